/**
 * Writing to a file that other processes write, too.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import { type StoreConnection, transact } from './local-store-connection.ts';
import type { Connection } from './local-store-statements.ts';
import { isBusy } from './sqlite-code.ts';

/** A write that met another process's is tried again this often: two seconds in all. */
const BUSY_ATTEMPTS = 250;
const BUSY_PAUSE_MS = 5;

/**
 * Writes in the order of the calls. One at a time, because each attempt at a held file stops this
 * thread, and with a turn for everything else in between.
 */
export class StoreWrites {
  readonly #connection: StoreConnection;
  #lastPlace = 0;
  #lastWrite: Promise<void> = Promise.resolve();
  /** The last write that found the file held for too long, and up to which place others waited with it. */
  #givenUp: { readonly lastPlace: number; readonly failure: SallyportError } | undefined;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  /**
   * Writes in one transaction, when all that was asked for before is written.
   *
   * @param durable - Whether it is on the disk when this resolves.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE`; at once when the file cannot be opened.
   */
  async write<T>(durable: boolean, work: (connection: Connection) => T): Promise<T> {
    this.#connection.open();
    this.#lastPlace += 1;
    const place = this.#lastPlace;
    const written = this.#lastWrite.then(() => this.#writeInTurn(place, durable, work));
    this.#lastWrite = written.then(yieldThread, yieldThread);
    return written;
  }

  async #writeInTurn<T>(
    place: number,
    durable: boolean,
    work: (connection: Connection) => T,
  ): Promise<T> {
    // A write queued behind one that gave up has waited as long.
    if (this.#givenUp !== undefined && place <= this.#givenUp.lastPlace)
      throw this.#givenUp.failure;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return this.#connection.use((current) => transact(current, durable, work));
      } catch (error) {
        if (!(error instanceof SallyportError && isBusy(error.cause))) throw error;
        if (attempt === BUSY_ATTEMPTS) {
          this.#givenUp = { lastPlace: this.#lastPlace, failure: error };
          throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
      }
    }
  }
}

function yieldThread(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
