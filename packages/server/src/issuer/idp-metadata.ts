/**
 * Something fetched from the IdP that must be there soon, stay fresh and never be lost again.
 *
 * @module
 */

/** Calls back later; returns how to call it off. */
export type Schedule = (afterMs: number, callback: () => void) => () => void;

/** Dependencies of {@link KeptMetadata}. */
export interface KeptMetadataOptions<T> {
  /** Fetches the value. @throws When the IdP is down or answers nonsense. */
  readonly load: () => Promise<T>;
  readonly schedule: Schedule;
  /** Told of each failed attempt, and of each value. */
  readonly onFailure: (cause: unknown) => void;
  readonly onLoaded: (value: T) => void;
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;
const REFRESH_MS = 600_000;

/**
 * Loads a value at start and keeps trying; refreshes it every ten minutes; keeps the last good one
 * when a refresh fails.
 */
export class KeptMetadata<T> {
  readonly #options: KeptMetadataOptions<T>;
  #value: T | undefined;
  #inFlight: Promise<T | undefined> | undefined;
  /** Whether the schedule waits for the attempt under way. */
  #isDue = false;
  #retryMs = FIRST_RETRY_MS;
  #cancel: () => void = () => {};
  #closed = false;

  constructor(options: KeptMetadataOptions<T>) {
    this.#options = options;
  }

  /** The value, when there is one. */
  get current(): T | undefined {
    return this.#value;
  }

  /** Begins loading in the background. */
  start(): void {
    void this.#load(true);
  }

  /**
   * The value, or the result of one attempt to get it now; `undefined` when that failed. Such an
   * attempt moves nothing of the schedule: people who keep asking do not put recovery off.
   */
  async need(): Promise<T | undefined> {
    return this.#value ?? (await this.#load(false));
  }

  /**
   * One attempt to get it anew, shared by all who ask meanwhile; `current` then holds the outcome.
   * Moves nothing of the schedule, like {@link need}.
   */
  async reload(): Promise<void> {
    await this.#load(false);
  }

  /** Stops; what is in flight is ignored. */
  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #load(isScheduled: boolean): Promise<T | undefined> {
    // Also when it joins an attempt that somebody asked for: whatever comes of that, the schedule goes on.
    if (isScheduled) this.#isDue = true;
    this.#inFlight ??= this.#attempt().finally(() => {
      this.#inFlight = undefined;
    });
    return this.#inFlight;
  }

  async #attempt(): Promise<T | undefined> {
    try {
      const value = await this.#options.load();
      if (this.#closed) return undefined;
      this.#value = value;
      this.#retryMs = FIRST_RETRY_MS;
      this.#options.onLoaded(value);
      this.#later(REFRESH_MS);
    } catch (cause) {
      if (this.#closed) return undefined;
      this.#options.onFailure(cause);
      if (!this.#isDue) return undefined;
      this.#later(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
    return this.#value;
  }

  #later(afterMs: number): void {
    this.#isDue = false;
    this.#cancel();
    this.#cancel = this.#options.schedule(afterMs, () => void this.#load(true));
  }
}
