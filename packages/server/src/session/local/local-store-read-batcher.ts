/**
 * Batches the reads of one turn of the event loop into one transaction.
 *
 * @module
 */

interface Asked<T> {
  readonly id: number;
  readonly resolve: (read: T | undefined) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Collects ids until the event loop has taken in all requests that have arrived, and then reads them all.
 *
 * Separate reads would each take and release the file's lock, and the rest of each request would evict SQLite
 * from the processor's caches between two reads: under load that costs a fifth of a request. A single read
 * waits for one turn.
 *
 * @param readAll - Reads the ids in order, in one transaction where they are several, and hands each to
 *   `found` as soon as it is read. When it throws, those not yet handed over are rejected with that.
 *
 * @returns Reads one.
 */
export function createReadBatcher<T>(
  readAll: (ids: readonly number[], found: (index: number, read: T | undefined) => void) => void,
): (id: number) => Promise<T | undefined> {
  let asked: Asked<T>[] = [];

  function readAsked(): void {
    const now = asked;
    asked = [];
    try {
      readAll(
        now.map(({ id }) => id),
        (index, read) => now[index]?.resolve(read),
      );
    } catch (cause) {
      // Has no effect on those already resolved.
      for (const { reject } of now) reject(cause);
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      asked.push({ id, resolve, reject });
      if (asked.length === 1) setImmediate(readAsked);
    });
}
