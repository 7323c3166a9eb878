/**
 * The session store in one SQLite file, shared by the processes of one machine.
 *
 * @module
 */

import type { DatabaseSync } from 'node:sqlite';
import { SallyportError } from '@sallyport/protocol';
import type {
  EndReason,
  RevocationsSeen,
  SessionStore,
  StoredMetadata,
  StoredSession,
} from '../session-store.ts';
import { isBusy, isFull } from './local-store-error.ts';
import { openStoreFile } from './local-store-file.ts';
import { createReadsTogether } from './local-store-reads.ts';
import {
  type Connection,
  ownersOf,
  prepareStatements,
  toColumns,
  toStoredMetadata,
  toStoredSession,
} from './local-store-statements.ts';
import { createUpkeep } from './local-store-upkeep.ts';
import { createNotedUses, type Use } from './local-store-uses.ts';

/** A write that met another process's is tried again this often: two seconds in all. */
const BUSY_ATTEMPTS = 250;
const BUSY_PAUSE_MS = 5;
/** How long one attempt may hold up this thread. */
const BUSY_TIMEOUT_MS = 1;
/** Some thousand sessions: what is asked for often is remembered anyway. */
const CACHE_KIB = 4_096;
/** A file that could not be opened is tried again at most this often. */
const REOPEN_MS = 500;
const POLL_MS = 250;
const REVOCATIONS_PER_LOOK = 1_000;
/** No lease is longer. */
const LEASE_MAX_MS = 120_000;
const REVOKED_AT_A_TIME = 200;
const OWNED_BY = {
  principal: 'ofPrincipal',
  sid: 'ofSid',
  principal_without_sid: 'ofPrincipalWithoutSid',
} as const;
const NOTHING_ENDED: RevocationsSeen = { sessions: [], all: false };

/** Dependencies and limits of {@link createLocalSessionStore}. */
export interface LocalSessionStoreOptions {
  /** The database file; its folder is created with mode 0700. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Largest size of the file in bytes; a full store refuses new sessions and keeps the old ones. */
  readonly maxBytes?: number;
  /**
   * Milliseconds of a clock that all processes of the machine share and nobody sets, for leases: a wall
   * clock that jumps would give one to two, or to nobody. By default the system's monotonic one.
   */
  readonly monotonicNow?: () => number;
  /** Told of each session that this process has removed because its time was over; by one process each. */
  readonly onExpired?: (id: number) => void;
  /** Told each time the file was opened, or could not be: then with what was in the way. */
  readonly onOpening?: (cause?: unknown) => void;
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
  monotonicNow = readMonotonicClock,
  onExpired = () => {},
  onOpening = () => {},
}: LocalSessionStoreOptions): SessionStore {
  const upkeep = createUpkeep(path);
  let connection: Connection | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  let closed = false;
  let lastPlace = 0;
  let lastWrite: Promise<void> = Promise.resolve();
  /** The last write that found the file held for too long, and up to which place others waited with it. */
  let givenUp: { readonly lastPlace: number; readonly failure: SallyportError } | undefined;
  const uses = createNotedUses((part) => write(false, (at) => touchAll(at, part)));
  const readTogether = createReadsTogether<StoredMetadata>((ids, found) => {
    use((at) =>
      inSnapshot(at, ids.length, () => {
        for (const [index, id] of ids.entries())
          found(index, withUse(toStoredMetadata(id, at.selectMetadata.get(id))));
      }),
    );
  });
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
      connection = prepareStatements(
        openStoreFile(path, { busyTimeoutMs: BUSY_TIMEOUT_MS, maxBytes, cacheKib: CACHE_KIB }),
      );
      // What happened while the file was away is unknown, so nothing remembered counts any more.
      mustForget = true;
      seenDataVersion = undefined;
      seenSequence = Number(connection.lastSequence.get()?.['sequence']);
      onOpening();
      return connection;
    } catch (cause) {
      failedAt = now();
      failure = cause;
      onOpening(cause);
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

  /**
   * Writes in the order of the calls. One at a time, because each attempt at a held file stops this
   * thread, and with a turn for everything else in between.
   */
  async function write<T>(durable: boolean, work: (connection: Connection) => T): Promise<T> {
    upkeep.start();
    // What cannot be opened keeps nobody waiting.
    connect();
    lastPlace += 1;
    const written = lastWrite.then(writeInTurn.bind(undefined, lastPlace));
    lastWrite = written.then(yieldThread, yieldThread);
    return written;

    async function writeInTurn(place: number): Promise<T> {
      // Whoever waited behind a write that gave up has waited as long.
      if (givenUp !== undefined && place <= givenUp.lastPlace) throw givenUp.failure;
      for (let attempt = 1; ; attempt += 1) {
        try {
          return use((current) => transact(current, durable, work));
        } catch (error) {
          if (!(error instanceof SallyportError && isBusy(error.cause))) throw error;
          if (attempt === BUSY_ATTEMPTS) {
            givenUp = { lastPlace, failure: error };
            throw error;
          }
          await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
        }
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

  function withUse<T extends StoredMetadata>(stored: T | undefined): T | undefined {
    return stored === undefined ? undefined : uses.apply(stored);
  }

  /** What this process noted in its last moment; losing that shortens a session by no more than a minute. */
  function writeLastUses(at: Connection): void {
    const noted = uses.take();
    if (noted.length === 0) return;
    try {
      transact(at, false, () => touchAll(at, noted));
    } catch {
      // Held by another process just now, or broken: nobody waits for a process that ends.
    }
  }

  function takeLease(at: Connection, id: number, holder: string, forMs: number): boolean {
    const time = monotonicNow();
    // One that ends later than any could is of the time before the machine was started again.
    return at.lease.run(id, holder, time + forMs, time, time + LEASE_MAX_MS).changes === 1;
  }

  return {
    async create(session, replaces) {
      const endedIds = await write(true, (at) => {
        if (at.insert.run(...toColumns(session)).changes === 0) return undefined;
        const ids: number[] = [];
        const reason = revokedSince(at, session);
        if (reason !== undefined) ids.push(end(at, session.id, reason, now()));
        if (replaces !== undefined) ids.push(end(at, replaces, 'session_replaced', now()));
        return ids;
      });
      ended.push(...(endedIds ?? []));
      return endedIds !== undefined;
    },

    async read(id) {
      return withUse(use((at) => toStoredSession(at.select.get(id))));
    },

    readMetadata: readTogether,

    async touch(id, lastUsedAt) {
      if (closed) throw unavailable('the store is closed', undefined);
      await uses.note(id, lastUsedAt);
    },

    async replace(session) {
      const { id, generation, metadata, tokens, lastUsedAt, absoluteEnd, idleMs } = session;
      return write(true, (at) => {
        const { changes } = at.replace.run(
          generation,
          metadata,
          tokens,
          lastUsedAt,
          absoluteEnd,
          idleMs,
          id,
          generation - 1,
        );
        return changes === 1;
      });
    },

    async noteRenewalSent(id, generation, holder, forMs) {
      return write(true, (at) => {
        if (at.ofGeneration.get(id, generation) === undefined) return false;
        if (!takeLease(at, id, holder, forMs)) return false;
        return at.noteSent.run(id, generation).changes === 1;
      });
    },

    async lease(id, holder, forMs) {
      return write(false, (at) => takeLease(at, id, holder, forMs));
    },

    async release(id, holder) {
      await write(false, (at) => at.release.run(id, holder));
    },

    async revoke(id, reason = 'signed_out') {
      ended.push(await write(true, (at) => end(at, id, reason, now())));
    },

    async revokeGeneration(id, generation, reason) {
      const isEnded = await write(true, (at) => {
        if (at.ofGeneration.get(id, generation) === undefined) return false;
        end(at, id, reason, now());
        return true;
      });
      if (isEnded) ended.push(id);
      return isEnded;
    },

    async revokeAll({ kind, key }, { sessionsUpTo, signInsUpTo }, reason) {
      const time = now();
      const all: number[] = [];
      for (;;) {
        // In parts: this thread, and other processes' writes, wait for each.
        const part = await write(true, (at) => {
          at.markOwner.run(kind, key, signInsUpTo, time, reason);
          const rows = at[OWNED_BY[kind]].all(key, sessionsUpTo, REVOKED_AT_A_TIME);
          return rows.map((row) => end(at, Number(row['id']), reason, time));
        });
        ended.push(...part);
        all.push(...part);
        if (part.length < REVOKED_AT_A_TIME) return all;
      }
    },

    async endReason(id) {
      return use((at) => {
        // Of a session that stands, only an earlier one of the same id can have ended.
        if (at.select.get(id) !== undefined) return undefined;
        const reason = at.endReason.get(id)?.['reason'];
        // Written by this store alone.
        return reason === undefined ? undefined : (reason as EndReason);
      });
    },

    async listByPrincipal(principalKey, limit) {
      return use((at) => toSessions(at.byPrincipal.all(principalKey, limit)));
    },

    async list(cursor, limit) {
      return use((at) => {
        const rows = at.page.all(Number(cursor ?? 0), limit);
        const last = rows.length < limit ? undefined : rows.at(-1)?.['row'];
        return { sessions: toSessions(rows), next: last === undefined ? undefined : String(last) };
      });
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
      if (closed) throw unavailable('the store is closed', undefined);
      try {
        const swept = await upkeep.sweep({ time: now(), limit });
        for (const id of swept) onExpired(id);
        return swept.length;
      } catch (cause) {
        throw unavailable('the store failed', cause);
      }
    },

    close() {
      if (connection !== undefined) writeLastUses(connection);
      closed = true;
      upkeep.close();
      connection?.db.close();
      connection = undefined;
    },
  };
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

/** Several reads take the file's lock once; one does so by itself. */
function inSnapshot(at: Connection, reads: number, work: () => void): void {
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

function touchAll(at: Connection, uses: readonly Use[]): void {
  for (const [id, lastUsedAt] of uses) at.touch.run(lastUsedAt, id, lastUsedAt);
}

function yieldThread(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function rollback(db: DatabaseSync): void {
  // SQLite rolls back by itself on some errors (a full disk among them); a second ROLLBACK would hide the first error.
  if (db.isTransaction) db.exec('ROLLBACK');
}

function end(at: Connection, id: number, reason: EndReason, time: number): number {
  at.remove.run(id);
  // Logged also when the row is gone: another process may still remember it.
  at.log.run(id, time, reason);
  return id;
}

/** Why a session being created has ended already: its owner was revoked after its sign-in started. */
function revokedSince(at: Connection, session: StoredSession): EndReason | undefined {
  for (const { kind, key } of ownersOf(session)) {
    const reason = at.ownerMark.get(kind, key, session.signInAt)?.['reason'];
    if (reason !== undefined) return reason as EndReason;
  }
  return undefined;
}

function toSessions(rows: readonly Record<string, unknown>[]): readonly StoredSession[] {
  return rows.map(toStoredSession).filter((session) => session !== undefined);
}

function readMonotonicClock(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

function unavailable(detail: string, cause: unknown): SallyportError {
  return new SallyportError('SP_STORE_UNAVAILABLE', {
    component: 'store:local',
    detail,
    cause,
    retryAfterSeconds: 1,
  });
}
