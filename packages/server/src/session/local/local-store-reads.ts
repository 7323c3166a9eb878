/**
 * Reads that are asked for in one turn of the event loop, made together.
 *
 * @module
 */

interface Asked<T> {
  readonly id: number;
  readonly resolve: (read: T | undefined) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Gathers what is asked for until the event loop has taken in all that has arrived, and reads it then.
 *
 * One after the other, each read would take and give back the file's lock, and everything that a request
 * does besides would push SQLite out of the processor's caches between two of them: under load that is a
 * fifth of a request. Whoever asks alone waits for one turn.
 *
 * @param readAll - Reads the ids in order, in one transaction where they are several, and hands each to
 *   `found` as soon as it is read. When it throws, those not yet handed over are rejected with that.
 *
 * @returns Reads one.
 */
export function createReadsTogether<T>(
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
      // Means nothing to those that have their answer.
      for (const { reject } of now) reject(cause);
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      asked.push({ id, resolve, reject });
      if (asked.length === 1) setImmediate(readAsked);
    });
}
