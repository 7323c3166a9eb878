/**
 * A connection to the Redis server in use that reconnects whenever it is lost.
 *
 * @module
 */

import { randomInt } from 'node:crypto';
import { storeUnavailable } from './redis-failure.ts';
import type { CheckedConnection } from './redis-server.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** A connection that lasted less keeps the pause before the next attempt growing. */
const STEADY_MS = 5_000;

/** Never blocks a caller: while there is no connection, each use fails at once. */
export class ReconnectingRedis {
  /** Resolves with the first connection; rejects with the cause when the first attempt fails. */
  readonly opened: Promise<CheckedConnection>;
  readonly #connect: () => Promise<CheckedConnection>;
  readonly #onOpen: (checked: CheckedConnection) => void;
  #checked: CheckedConnection | undefined;
  #failure: unknown;
  #pausing: { readonly timer: NodeJS.Timeout; readonly end: () => void } | undefined;
  #isClosed = false;

  /**
   * Connects, and reconnects until {@link close}.
   *
   * @param onOpen - Called with each new connection.
   */
  constructor(
    connect: () => Promise<CheckedConnection>,
    onOpen: (checked: CheckedConnection) => void = () => {},
  ) {
    this.#connect = connect;
    this.#onOpen = onOpen;
    const { promise, resolve, reject } = Promise.withResolvers<CheckedConnection>();
    this.opened = promise;
    // A caller that ignores the first attempt must not cause an unhandled rejection.
    promise.catch(() => {});
    void this.#keep(resolve, reject);
  }

  /**
   * The present connection.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE` while there is none.
   */
  get current(): CheckedConnection {
    if (this.#isClosed) throw storeUnavailable('the store is closed');
    if (this.#checked === undefined)
      throw storeUnavailable('the server is not connected', this.#failure);
    return this.#checked;
  }

  close(): void {
    this.#isClosed = true;
    this.#checked?.connection.close();
    this.#checked = undefined;
    clearTimeout(this.#pausing?.timer);
    this.#pausing?.end();
  }

  async #keep(
    opened: (checked: CheckedConnection) => void,
    failed: (error: unknown) => void,
  ): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#isClosed) {
      try {
        const checked = await this.#connect();
        if (this.#isClosed) checked.connection.close();
        else this.#checked = checked;
        opened(checked);
        this.#onOpen(checked);
        const openedAt = performance.now();
        await checked.connection.closed;
        this.#checked = undefined;
        if (performance.now() - openedAt >= STEADY_MS) pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        this.#failure = error;
        failed(error);
      }
      await this.#pause(randomInt(Math.ceil(pauseMs / 2), pauseMs + 1));
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pausing = { timer: setTimeout(resolve, ms), end: resolve };
    await promise;
    this.#pausing = undefined;
  }
}
