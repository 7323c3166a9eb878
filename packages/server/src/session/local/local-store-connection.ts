/**
 * The open file of the local session store: opened at first use, and again after a failure.
 *
 * @module
 */

import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '@sallyport/config/files';
import { storeUnavailable } from './local-store-error.ts';
import { openStoreFile } from './local-store-file.ts';
import { type Connection, prepareStatements } from './local-store-statements.ts';
import { isBusy, isFull } from './sqlite-code.ts';

/** Dependencies and limits of {@link StoreConnection}. */
export interface StoreConnectionOptions {
  readonly path: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly maxBytes: number | undefined;
  /** Called each time the file was opened, or with the cause when it could not be. */
  readonly onOpening: (cause?: unknown) => void;
  /** Gets each connection before its first use: what happened while the file was away is unknown. */
  readonly onOpened: (connection: Connection) => void;
  /** Called when the file becomes unavailable. */
  readonly onDropped: () => void;
}

/** How long one attempt may hold up this thread. */
const BUSY_TIMEOUT_MS = 1;
/** Some thousand sessions: what is asked for often is remembered anyway. */
const CACHE_KIB = 4_096;
/** A file that could not be opened is tried again at most this often. */
const REOPEN_MS = 500;

/** One process's way to the file. */
export class StoreConnection {
  readonly #options: StoreConnectionOptions;
  #connection: Connection | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #isClosed = false;

  constructor(options: StoreConnectionOptions) {
    this.#options = options;
  }

  /**
   * Opens the file unless it is open.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE` when it cannot be, could not be just now, or is closed.
   */
  open(): Connection {
    if (this.#connection !== undefined) return this.#connection;
    this.expectOpen();
    const { now, onOpening } = this.#options;
    if (Math.abs(now() - this.#failedAt) < REOPEN_MS)
      throw storeUnavailable('the store could not be opened', this.#failure);
    try {
      this.#connection = this.#openFile();
      onOpening();
      return this.#connection;
    } catch (cause) {
      this.#failedAt = now();
      this.#failure = cause;
      onOpening(cause);
      throw storeUnavailable('the store could not be opened', cause);
    }
  }

  /**
   * Works with the file. A failure other than that another process has it, or that it is full, drops the
   * connection: the next use opens a new one.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE`, with what the work threw as its cause.
   */
  use<T>(work: (connection: Connection) => T): T {
    const current = this.open();
    try {
      return work(current);
    } catch (cause) {
      if (!isBusy(cause) && !isFull(cause)) this.#drop(current);
      throw storeUnavailable(isFull(cause) ? 'the store is full' : 'the store failed', cause);
    }
  }

  /** @throws {SallyportError} `SP_STORE_UNAVAILABLE` after {@link close}. */
  expectOpen(): void {
    if (this.#isClosed) throw storeUnavailable('the store is closed', undefined);
  }

  /** Closes the file for good. `atLast` gets it where it was open, and throws nothing. */
  close(atLast: (connection: Connection) => void): void {
    if (this.#connection !== undefined) atLast(this.#connection);
    this.#isClosed = true;
    this.#connection?.db.close();
    this.#connection = undefined;
  }

  #openFile(): Connection {
    const { path, maxBytes, onOpened } = this.#options;
    makeFolder(dirname(path), 0o700);
    const db = openStoreFile(path, {
      busyTimeoutMs: BUSY_TIMEOUT_MS,
      maxBytes,
      cacheKib: CACHE_KIB,
    });
    try {
      const opened = prepareStatements(db);
      onOpened(opened);
      return opened;
    } catch (error) {
      // It is tried again and again: open files would pile up until they are collected.
      db.close();
      throw error;
    }
  }

  #drop(broken: Connection): void {
    if (this.#connection === broken) this.#connection = undefined;
    this.#options.onDropped();
    try {
      broken.db.close();
    } catch {
      // A connection that cannot even be closed is of no further use.
    }
  }
}

/**
 * Writes in one transaction.
 *
 * @param durable - Whether it is on the disk when this returns.
 */
export function transact<T>(
  at: Connection,
  durable: boolean,
  work: (connection: Connection) => T,
): T {
  if (durable) at.db.exec('PRAGMA synchronous = FULL');
  try {
    at.db.exec('BEGIN IMMEDIATE');
    try {
      const result = work(at);
      at.db.exec('COMMIT');
      return result;
    } catch (error) {
      rollback(at.db);
      throw error;
    }
  } finally {
    if (durable && at.db.isOpen) at.db.exec('PRAGMA synchronous = NORMAL');
  }
}

/** Several reads take the file's lock once; one does so by itself. */
export function inSnapshot(at: Connection, reads: number, work: () => void): void {
  if (reads === 1) {
    work();
    return;
  }
  at.beginRead.run();
  try {
    work();
    at.commit.run();
  } catch (error) {
    rollback(at.db);
    throw error;
  }
}

function rollback(db: DatabaseSync): void {
  // SQLite rolls back by itself on some errors (a full disk among them); a second ROLLBACK would hide the first error.
  if (db.isTransaction) db.exec('ROLLBACK');
}
