/**
 * A value loaded from an issuer: retried until it is there, refreshed, and kept when a refresh fails.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { Schedule } from '../time/schedule.ts';

/** Dependencies of {@link RefreshedValue}. */
export interface RefreshedValueOptions<T> {
  /** Fetches the value. @throws When the IdP is down or answers nonsense. */
  readonly load: () => Promise<T>;
  readonly schedule: Schedule;
  /** At least 0, below 1. By default the runtime's: nothing secret hangs on it. */
  readonly random?: (() => number) | undefined;
  /** Called with the cause of each failed attempt, and with each value. */
  readonly onFailure: (cause: unknown) => void;
  readonly onLoaded: (value: T) => void;
}

const FIRST_RETRY_MS = 1_000;
/** One that cannot be reached is asked less and less often. */
const LAST_RETRY_MS = 30_000;
/** One that answers something useless is asked every few seconds: it may be mended at any moment. */
const LAST_RETRY_WHEN_BAD_MS = 5_000;
const REFRESH_MS = 600_000;
/** Up to this share of a delay is left out, so that not all processes ask at the same time. */
const JITTER = 0.2;

/**
 * Loads a value at start and keeps trying, after 1, 2 and 4 seconds, then every 5 while the answers are
 * bad, and up to every 30 while there are none; refreshes it every ten minutes; keeps the last good one
 * when a refresh fails.
 */
export class RefreshedValue<T> {
  readonly #options: RefreshedValueOptions<T>;
  #value: T | undefined;
  #inFlight: Promise<T | undefined> | undefined;
  /** Whether the schedule waits for the attempt under way. */
  #isDue = false;
  #retryMs = FIRST_RETRY_MS;
  #cancel: () => void = () => {};
  #closed = false;

  constructor(options: RefreshedValueOptions<T>) {
    this.#options = options;
  }

  /** The value, when there is one. */
  get current(): T | undefined {
    return this.#value;
  }

  /** Whether an attempt is under way. */
  get isLoading(): boolean {
    return this.#inFlight !== undefined;
  }

  /** Begins loading in the background. */
  start(): void {
    void this.#load(true);
  }

  /**
   * The value, or the result of one attempt to get it now; `undefined` when that failed. Such an
   * attempt leaves the schedule as it is: frequent requests do not delay recovery.
   */
  async need(): Promise<T | undefined> {
    return this.#value ?? (await this.#load(false));
  }

  /**
   * One attempt to load it again, shared by all callers meanwhile; `current` then holds the outcome.
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
    // Also when it joins an attempt of a caller: the schedule goes on whatever its outcome.
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
      const lastMs = isUnreachable(cause) ? LAST_RETRY_MS : LAST_RETRY_WHEN_BAD_MS;
      this.#later(Math.min(this.#retryMs, lastMs));
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
    return this.#value;
  }

  #later(afterMs: number): void {
    this.#isDue = false;
    this.#cancel();
    const { schedule, random = Math.random } = this.#options;
    const jitteredMs = Math.round(afterMs * (1 - JITTER * random()));
    this.#cancel = schedule(jitteredMs, () => void this.#load(true));
  }
}

function isUnreachable(cause: unknown): boolean {
  return cause instanceof SallyportError && cause.code === 'SP_IDP_UNREACHABLE';
}
