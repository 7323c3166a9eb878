/**
 * The session store in one SQLite file, shared by the processes of one machine.
 *
 * @module
 */

import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { SallyportError } from '@sallyport/protocol';
import type { RevocationsSeen, SessionStore, StoredSession } from './session-store.ts';

/** Version of the tables, kept in `PRAGMA user_version`; see docs/storage-schema.md. */
const SCHEMA_VERSION = 1;
const SCHEMA = `
CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  metadata BLOB NOT NULL,
  tokens BLOB NOT NULL,
  last_used_at INTEGER NOT NULL,
  absolute_end INTEGER NOT NULL,
  idle_ms INTEGER NOT NULL,
  principal_key BLOB NOT NULL,
  sid_key BLOB
) STRICT;
CREATE INDEX session_by_principal ON session (principal_key);
CREATE INDEX session_by_sid ON session (sid_key) WHERE sid_key IS NOT NULL;
CREATE INDEX session_by_absolute_end ON session (absolute_end);
CREATE TABLE revocation (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL
) STRICT;
CREATE TABLE claimed (
  key BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Another process's write may hold the file for this long before ours gives up. */
const BUSY_TIMEOUT_MS = 20;
const BUSY_ATTEMPTS = 50;
const BUSY_PAUSE_MS = 5;
/** A file that could not be opened is tried again at most this often. */
const REOPEN_MS = 500;
const POLL_MS = 250;
/** A revocation is needed only as long as some process may remember the session; far below this. */
const REVOCATION_KEPT_MS = 3_600_000;
const REVOCATIONS_PER_LOOK = 1_000;
const NOTHING_ENDED: RevocationsSeen = { sessions: [], all: false };

/** Dependencies and limits of {@link createLocalSessionStore}. */
export interface LocalSessionStoreOptions {
  /** The database file; its folder is created with mode 0700. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Largest size of the file in bytes; a full store refuses new sessions and keeps the old ones. */
  readonly maxBytes?: number;
}

interface Connection {
  readonly db: DatabaseSync;
  readonly insert: StatementSync;
  readonly select: StatementSync;
  readonly touch: StatementSync;
  readonly remove: StatementSync;
  readonly log: StatementSync;
  readonly claim: StatementSync;
  readonly dataVersion: StatementSync;
  readonly logAfter: StatementSync;
  readonly sweepSessions: StatementSync;
  readonly sweepClaims: StatementSync;
  readonly sweepLog: StatementSync;
}

/**
 * Creates the store; opens the file at first use, and again after a failure.
 *
 * Processes coordinate only through the file. New and ended sessions are written with
 * `synchronous=FULL` before they are acknowledged; a noted use is not worth that.
 */
export function createLocalSessionStore({
  path,
  now,
  maxBytes,
}: LocalSessionStoreOptions): SessionStore {
  let connection: Connection | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  let closed = false;
  let polledAt = Number.NEGATIVE_INFINITY;
  let seenDataVersion: unknown;
  let seenSequence = 0;
  /** Ended, here or elsewhere, and not yet told to the caller. What ends here does not wait for the log. */
  let ended: number[] = [];
  let mustForget = false;

  function connect(): Connection {
    if (connection !== undefined) return connection;
    if (closed) throw unavailable('the store is closed', undefined);
    if (Math.abs(now() - failedAt) < REOPEN_MS)
      throw unavailable('the store could not be opened', failure);
    try {
      connection = openFile(path, maxBytes);
      // What happened while the file was away is unknown, so nothing remembered counts any more.
      mustForget = true;
      seenDataVersion = undefined;
      seenSequence = lastSequence(connection);
      return connection;
    } catch (cause) {
      failedAt = now();
      failure = cause;
      throw unavailable('the store could not be opened', cause);
    }
  }

  function use<T>(work: (connection: Connection) => T): T {
    const current = connect();
    try {
      return work(current);
    } catch (cause) {
      if (!isBusy(cause) && !isFull(cause)) drop(current);
      throw unavailable(isFull(cause) ? 'the store is full' : 'the store failed', cause);
    }
  }

  async function write<T>(durable: boolean, work: (connection: Connection) => T): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return use((current) => transact(current, durable, work));
      } catch (error) {
        const busy = error instanceof SallyportError && isBusy(error.cause);
        if (!busy || attempt === BUSY_ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
      }
    }
  }

  function drop(broken: Connection): void {
    if (connection === broken) connection = undefined;
    polledAt = Number.NEGATIVE_INFINITY;
    try {
      broken.db.close();
    } catch {
      // A connection that cannot even be closed is of no further use.
    }
  }

  /** Reads what other processes ended, when the file has changed since the last look. */
  function readLog(time: number): void {
    use((at) => {
      const version = at.dataVersion.get()?.['data_version'];
      if (version !== seenDataVersion) {
        const rows = at.logAfter.all(seenSequence, REVOCATIONS_PER_LOOK);
        for (const row of rows) {
          ended.push(Number(row['session_id']));
          seenSequence = Number(row['sequence']);
        }
        // A full page has more behind it: look again at the next call.
        if (rows.length === REVOCATIONS_PER_LOOK) return;
        seenDataVersion = version;
      }
      polledAt = time;
    });
  }

  return {
    async create(session, replaces) {
      const created = await write(true, (at) => {
        const { changes } = at.insert.run(
          session.id,
          session.generation,
          session.metadata,
          session.tokens,
          session.lastUsedAt,
          session.absoluteEnd,
          session.idleMs,
          session.principalKey,
          session.sidKey ?? null,
        );
        if (changes === 0) return false;
        if (replaces !== undefined) end(at, replaces, now());
        return true;
      });
      if (created && replaces !== undefined) ended.push(replaces);
      return created;
    },

    async read(id) {
      return use((at) => toStoredSession(at.select.get(id)));
    },

    async touch(id, lastUsedAt) {
      await write(false, (at) => at.touch.run(lastUsedAt, id, lastUsedAt));
    },

    async revoke(id) {
      await write(true, (at) => end(at, id, now()));
      ended.push(id);
    },

    async claimOnce(key, expiresAt) {
      return write(true, (at) => at.claim.run(key, expiresAt).changes === 1);
    },

    revocations(): RevocationsSeen {
      const time = now();
      // A clock that was set back must not stop the looking.
      if (time - polledAt >= POLL_MS || time < polledAt) readLog(time);
      if (ended.length === 0 && !mustForget) return NOTHING_ENDED;
      const seen = { sessions: ended, all: mustForget };
      ended = [];
      mustForget = false;
      return seen;
    },

    async sweep(limit) {
      const time = now();
      return write(false, (at) => {
        const swept = Number(at.sweepSessions.run(time, time, limit).changes);
        at.sweepClaims.run(time, limit);
        at.sweepLog.run(time - REVOCATION_KEPT_MS, limit);
        return swept;
      });
    },

    close() {
      closed = true;
      connection?.db.close();
      connection = undefined;
    },
  };
}

function openFile(path: string, maxBytes: number | undefined): Connection {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives its side files the mode of this one.
  closeSync(openSync(path, 'a', 0o600));
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    createTables(db);
    if (maxBytes !== undefined)
      db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / 4096))}`);
    return {
      db,
      insert: db.prepare(
        'INSERT INTO session (id, generation, metadata, tokens, last_used_at, absolute_end, idle_ms, principal_key, sid_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
      ),
      select: db.prepare('SELECT * FROM session WHERE id = ?'),
      touch: db.prepare('UPDATE session SET last_used_at = ? WHERE id = ? AND last_used_at < ?'),
      remove: db.prepare('DELETE FROM session WHERE id = ?'),
      log: db.prepare('INSERT INTO revocation (session_id, revoked_at) VALUES (?, ?)'),
      claim: db.prepare(
        'INSERT INTO claimed (key, expires_at) VALUES (?, ?) ON CONFLICT (key) DO NOTHING',
      ),
      dataVersion: db.prepare('PRAGMA data_version'),
      logAfter: db.prepare(
        'SELECT sequence, session_id FROM revocation WHERE sequence > ? ORDER BY sequence LIMIT ?',
      ),
      sweepSessions: db.prepare(
        'DELETE FROM session WHERE id IN (SELECT id FROM session WHERE absolute_end <= ? OR last_used_at + idle_ms <= ? LIMIT ?)',
      ),
      sweepClaims: db.prepare(
        'DELETE FROM claimed WHERE key IN (SELECT key FROM claimed WHERE expires_at <= ? LIMIT ?)',
      ),
      sweepLog: db.prepare(
        'DELETE FROM revocation WHERE sequence IN (SELECT sequence FROM revocation WHERE revoked_at <= ? LIMIT ?)',
      ),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function createTables(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = db.prepare('PRAGMA user_version').get()?.['user_version'];
    if (version === 0) db.exec(SCHEMA);
    else if (version !== SCHEMA_VERSION)
      throw new Error(
        `the store has schema version ${String(version)}, this release knows ${SCHEMA_VERSION}`,
      );
    db.exec('COMMIT');
  } catch (error) {
    rollback(db);
    throw error;
  }
}

function transact<T>(at: Connection, durable: boolean, work: (connection: Connection) => T): T {
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

function rollback(db: DatabaseSync): void {
  // SQLite rolls back by itself on some errors (a full disk among them); a second ROLLBACK would hide the first error.
  if (db.isTransaction) db.exec('ROLLBACK');
}

function end(at: Connection, id: number, time: number): void {
  at.remove.run(id);
  // Logged also when the row is gone: another process may still remember it.
  at.log.run(id, time);
}

function lastSequence(at: Connection): number {
  return Number(
    at.db.prepare('SELECT coalesce(max(sequence), 0) AS sequence FROM revocation').get()?.[
      'sequence'
    ],
  );
}

function toStoredSession(row: Record<string, unknown> | undefined): StoredSession | undefined {
  if (row === undefined) return undefined;
  const { metadata, tokens, principal_key: principalKey, sid_key: sidKey } = row;
  if (
    !(
      metadata instanceof Uint8Array &&
      tokens instanceof Uint8Array &&
      principalKey instanceof Uint8Array
    )
  )
    return undefined;
  return {
    id: Number(row['id']),
    generation: Number(row['generation']),
    metadata,
    tokens,
    lastUsedAt: Number(row['last_used_at']),
    absoluteEnd: Number(row['absolute_end']),
    idleMs: Number(row['idle_ms']),
    principalKey,
    sidKey: sidKey instanceof Uint8Array ? sidKey : undefined,
  };
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_FULL = 13;

function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

function isFull(error: unknown): boolean {
  return resultCode(error) === SQLITE_FULL;
}

/** The primary result code: extended codes carry theirs in the upper bits. */
function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return Number(error.errcode) & 0xff;
}

function unavailable(detail: string, cause: unknown): SallyportError {
  return new SallyportError('SP_STORE_UNAVAILABLE', {
    component: 'store:local',
    detail,
    cause,
    retryAfterSeconds: 1,
  });
}
