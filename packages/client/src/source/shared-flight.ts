/**
 * One piece of work for all who ask while it is under way.
 *
 * @module
 */

/** Work that several callers wait for; it is called off when the last of them has gone. */
export class SharedFlight<T> {
  readonly #work: Promise<T>;
  readonly #controller = new AbortController();
  #waiting = 0;

  /** Starts the work. */
  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work(this.#controller.signal);
    // Callers that wait get the failure; without one it must not end the process as unhandled.
    this.#work.catch(() => undefined);
  }

  /** Whether it was called off: new callers must not join it. */
  get isCalledOff(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Waits for the work; an abort ends this caller's wait alone, unless it was the last. */
  async join(signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    this.#waiting += 1;
    let leave: (() => void) | undefined;
    const left = new Promise<never>((_resolve, reject) => {
      leave = () => reject(signal?.reason);
      signal?.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([this.#work, left]);
    } finally {
      if (leave !== undefined) signal?.removeEventListener('abort', leave);
      this.#waiting -= 1;
      if (this.#waiting === 0 && signal?.aborted === true) this.#controller.abort(signal.reason);
    }
  }
}
