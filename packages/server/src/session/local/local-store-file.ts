/**
 * The file of the local session store: its tables, and how an older one becomes a current one.
 *
 * @module
 */

import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './sqlite-code.ts';

/** Version of the tables, kept in `PRAGMA user_version`; see docs/storage-schema.md. */
const SCHEMA_VERSION = 2;
/**
 * Rows get an own number and not the random session id, so that they fill one page after another; pages
 * are large, because a session of two to four kilobytes would leave half of a small one empty.
 */
const PAGE_BYTES = 16_384;
/** Only if the maintenance thread falls behind: a request's commit should not have to checkpoint pages. */
const CHECKPOINT_PAGES = 1_000;
/** The log beside the file is cut back to this once it is carried over. */
const LOG_BYTES = 4_194_304;
const SCHEMA = `
CREATE TABLE session (
  row INTEGER PRIMARY KEY,
  id INTEGER NOT NULL UNIQUE,
  generation INTEGER NOT NULL,
  metadata BLOB NOT NULL,
  tokens BLOB NOT NULL,
  last_used_at INTEGER NOT NULL,
  absolute_end INTEGER NOT NULL,
  idle_ms INTEGER NOT NULL,
  ends_at INTEGER NOT NULL GENERATED ALWAYS AS (min(absolute_end, last_used_at + idle_ms)) VIRTUAL,
  principal_key BLOB NOT NULL,
  sid_key BLOB,
  sign_in_at INTEGER NOT NULL,
  renewal_sent INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_by_principal ON session (principal_key);
CREATE INDEX session_by_sid ON session (sid_key) WHERE sid_key IS NOT NULL;
CREATE INDEX session_by_end ON session (ends_at);
CREATE TABLE revocation (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX revocation_by_session ON revocation (session_id);
CREATE INDEX revocation_by_time ON revocation (revoked_at);
CREATE TABLE owner_revocation (
  kind TEXT NOT NULL,
  key BLOB NOT NULL,
  sign_ins_up_to INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE lease (
  session_id INTEGER PRIMARY KEY,
  holder TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE claimed (
  key BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX claimed_by_end ON claimed (expires_at);
`;

/** Processes that open a new file at once wait for the one that makes it. */
const OPENING_TIMEOUT_MS = 500;
const OPENING_PAUSE_MS = 2;

/** How a connection differs from another's. */
export interface StoreFileOptions {
  /** Another process's write may hold up this thread for so long before an attempt gives up. */
  readonly busyTimeoutMs: number;
  /** Largest size of the file in bytes. */
  readonly maxBytes?: number | undefined;
  /** Pages kept in memory, in KiB; SQLite's own 2,048 when absent. */
  readonly cacheKib?: number | undefined;
}

/**
 * Opens the file, mode 0600 in a folder that is there, with tables of the current version.
 *
 * Several processes may open it at once. The caller owns the connection.
 *
 * @throws When it cannot be opened, is no database, or is of a version this release does not know.
 */
export function openStoreFile(
  path: string,
  { busyTimeoutMs, maxBytes, cacheKib }: StoreFileOptions,
): DatabaseSync {
  // SQLite gives its side files the mode of this one.
  closeSync(openSync(path, 'a', 0o600));
  const db = new DatabaseSync(path, { timeout: OPENING_TIMEOUT_MS });
  try {
    // The page size counts for a new file only.
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
    beginLog(db);
    db.exec(
      `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES};`,
    );
    createTables(db);
    if (maxBytes !== undefined) {
      const pageBytes = Number(db.prepare('PRAGMA page_size').get()?.['page_size']);
      db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`);
    }
    if (cacheKib !== undefined) db.exec(`PRAGMA cache_size = -${cacheKib}`);
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * A new file gets its write-ahead log. SQLite does not wait there while another process does the same, with
 * whatever time limit: it says at once that the file is busy.
 */
function beginLog(db: DatabaseSync): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  const until = performance.now() + OPENING_TIMEOUT_MS;
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      Atomics.wait(never, 0, 0, OPENING_PAUSE_MS);
    }
  }
}

function createTables(db: DatabaseSync): void {
  // The usual case: the tables exist, and opening waits for no write of another process.
  if (readVersion(db) === SCHEMA_VERSION) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = readVersion(db);
    if (version === 1) bringOver(db);
    else if (version === 0) db.exec(SCHEMA);
    else if (version !== SCHEMA_VERSION)
      throw new Error(
        `the store has schema version ${String(version)}, this release knows ${SCHEMA_VERSION}`,
      );
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    // SQLite rolls back by itself on some errors; a second ROLLBACK would hide the first error.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function readVersion(db: DatabaseSync): unknown {
  return db.prepare('PRAGMA user_version').get()?.['user_version'];
}

/**
 * Version 1 had the sessions and the claims; the new tables sign no person out. The log goes on with
 * its numbers, so that a process of the release before, still ending, does not overlook what is new there.
 */
function bringOver(db: DatabaseSync): void {
  db.exec(`
ALTER TABLE session RENAME TO session_1;
ALTER TABLE claimed RENAME TO claimed_1;
DROP INDEX session_by_principal;
DROP INDEX session_by_sid;
ALTER TABLE revocation RENAME TO revocation_1;
${SCHEMA}
INSERT INTO session (id, generation, metadata, tokens, last_used_at, absolute_end, idle_ms, principal_key, sid_key, sign_in_at)
  SELECT id, generation, metadata, tokens, last_used_at, absolute_end, idle_ms, principal_key, sid_key, last_used_at FROM session_1;
INSERT INTO claimed SELECT key, expires_at FROM claimed_1;
INSERT INTO sqlite_sequence (name, seq) SELECT 'revocation', seq FROM sqlite_sequence WHERE name = 'revocation_1';
DROP TABLE session_1;
DROP TABLE claimed_1;
DROP TABLE revocation_1;
`);
}
