/**
 * The session store in one SQLite file, shared by the processes of one machine.
 *
 * @module
 */

import { dirname } from 'node:path';
import { makeFolder } from '@sallyport/config/files';
import type { Schedule } from '../../time/schedule.ts';
import type {
  EndReason,
  SessionStore,
  StoredMetadata,
  StoredSession,
  Turn,
} from '../session-store.ts';
import { LocalRevocationLog } from './local-revocation-log.ts';
import { inSnapshot, StoreConnection, transact } from './local-store-connection.ts';
import { storeUnavailable } from './local-store-error.ts';
import { createStoreMaintenance } from './local-store-maintenance.ts';
import { createReadBatcher } from './local-store-read-batcher.ts';
import {
  type Connection,
  ownersOf,
  toColumns,
  toStoredMetadata,
  toStoredSession,
} from './local-store-statements.ts';
import { createNotedUses, type Use } from './local-store-uses.ts';
import { StoreWrites } from './local-store-writes.ts';

/** No lease is longer. */
const LEASE_MAX_MS = 120_000;
const REVOKED_AT_A_TIME = 200;
/** No text has this byte. */
const BEHIND_ANY_HOLDER = Buffer.of(0xff);
const OWNED_BY = {
  principal: 'ofPrincipal',
  sid: 'ofSid',
  principal_without_sid: 'ofPrincipalWithoutSid',
} as const;

/** Dependencies and limits of {@link createLocalSessionStore}. */
export interface LocalSessionStoreOptions {
  /** The database file; its folder is created with mode 0700. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Largest size of the file in bytes; a full store refuses new sessions and keeps the old ones. */
  readonly maxBytes?: number;
  /**
   * Milliseconds of a clock that all processes of the machine share and that cannot be set, for leases: a wall
   * clock that jumps would give one lease to two processes, or to none. By default the system's monotonic one.
   */
  readonly monotonicNow?: () => number;
  /** Called with each expired session that this process removed; one process removes each. */
  readonly onExpired?: (id: number) => void;
  /** Called each time the file was opened, or with the cause when it could not be. */
  readonly onOpening?: (cause?: unknown) => void;
  /** Called with the cause when the maintenance thread fails, and without one when a thread answers again. */
  readonly onMaintenanceThread?: (cause?: unknown) => void;
  /** When that is tried again; by default by timers that do not keep the process alive. */
  readonly schedule?: Schedule;
}

/** A store of which a process takes care. */
export interface LocalSessionStore extends SessionStore {
  /**
   * Starts the maintenance thread, which carries over into the file what is written and sweeps; the first sweep
   * would start it, too. One process that serves is enough: a command that writes beside it needs none.
   *
   * @throws {SallyportError} `SP_THREAD_FAILED` when it cannot run. A file that cannot be opened is no matter of it.
   */
  startMaintenance(): Promise<void>;
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
  onMaintenanceThread = () => {},
  schedule = systemSchedule,
}: LocalSessionStoreOptions): LocalSessionStore {
  const maintenance = createStoreMaintenance({ path, schedule, onThread: onMaintenanceThread });
  const connection = new StoreConnection({
    path,
    now,
    maxBytes,
    onOpening,
    onOpened: (opened) => log.begin(opened),
    onDropped: () => log.lookAtOnce(),
  });
  const use: StoreConnection['use'] = (work) => connection.use(work);
  const log = new LocalRevocationLog({ now, use });
  const writes = new StoreWrites(connection);
  const write: StoreWrites['write'] = (durable, work) => writes.write(durable, work);
  const uses = createNotedUses((part) => write(false, (at) => touchAll(at, part)));
  const readTogether = createReadBatcher<StoredMetadata>((ids, found) => {
    use((at) =>
      inSnapshot(at, ids.length, () => {
        for (const [index, id] of ids.entries())
          found(index, withUse(toStoredMetadata(id, at.selectMetadata.get(id))));
      }),
    );
  });

  function withUse<T extends StoredMetadata>(stored: T | undefined): T | undefined {
    return stored === undefined ? undefined : uses.apply(stored);
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
      log.note(endedIds ?? []);
      return endedIds !== undefined;
    },

    async read(id) {
      return withUse(use((at) => toStoredSession(at.select.get(id))));
    },

    readMetadata: readTogether,

    async touch(id, lastUsedAt) {
      connection.expectOpen();
      await uses.note(id, lastUsedAt);
    },

    async replace(session) {
      const { id, generation, metadata, tokens, lastUsedAt, absoluteEnd, idleTimeoutMs } = session;
      return write(true, (at) => {
        const { changes } = at.replace.run(
          generation,
          metadata,
          tokens,
          lastUsedAt,
          absoluteEnd,
          idleTimeoutMs,
          id,
          generation - 1,
        );
        return changes === 1;
      });
    },

    ...createRenewalWrites(write, monotonicNow),
    ...createEnds({ use, write, log, now }),
    ...createListing(use),

    async takeTurn(key, holder, forMs) {
      return write(false, (at) => takeTurn(at, key, holder, now(), forMs));
    },

    async claimOnce(key, expiresAt) {
      return write(true, (at) => at.claim.run(key, expiresAt).changes === 1);
    },

    revocations: () => log.take(),

    startMaintenance: () => maintenance.start(),

    async sweep(limit) {
      connection.expectOpen();
      try {
        // The thread opens the file, and loads no package that makes folders.
        makeFolder(dirname(path), 0o700);
        const swept = await maintenance.sweep({ time: now(), limit });
        for (const id of swept) onExpired(id);
        return swept.length;
      } catch (cause) {
        throw storeUnavailable('the store failed', cause);
      }
    },

    close() {
      connection.close((at) => writeLastUses(at, uses.take()));
      maintenance.close();
    },
  };
}

/** What the IdP is asked again by: notes of what was sent, and leases by a clock that is never set. */
function createRenewalWrites(
  write: StoreWrites['write'],
  monotonicNow: () => number,
): Pick<SessionStore, 'noteRenewalSent' | 'withdrawRenewalSent' | 'lease' | 'release'> {
  return {
    async noteRenewalSent(id, generation, holder, forMs) {
      return write(true, (at) => {
        if (at.ofGeneration.get(id, generation) === undefined) return false;
        if (!takeLease(at, id, holder, forMs)) return false;
        return at.noteSent.run(id, generation).changes === 1;
      });
    },

    async withdrawRenewalSent(id, generation, holder) {
      await write(false, (at) => at.withdrawSent.run(id, generation, holder));
    },

    async lease(id, holder, forMs) {
      return write(false, (at) => takeLease(at, id, holder, forMs));
    },

    async release(id, holder) {
      await write(false, (at) => at.release.run(id, holder));
    },
  };

  function takeLease(at: Connection, id: number, holder: string, forMs: number): boolean {
    const time = monotonicNow();
    // One that ends later than any could is of the time before the machine was started again.
    return at.lease.run(id, holder, time + forMs, time, time + LEASE_MAX_MS).changes === 1;
  }
}

/** How sessions end, and why they have. */
function createEnds({
  use,
  write,
  log,
  now,
}: {
  readonly use: StoreConnection['use'];
  readonly write: StoreWrites['write'];
  readonly log: LocalRevocationLog;
  readonly now: () => number;
}): Pick<SessionStore, 'revoke' | 'revokeGeneration' | 'revokeAll' | 'endReason'> {
  return {
    async revoke(id, reason = 'signed_out') {
      log.note([await write(true, (at) => end(at, id, reason, now()))]);
    },

    async revokeGeneration(id, generation, reason) {
      const isEnded = await write(true, (at) => {
        if (at.ofGeneration.get(id, generation) === undefined) return false;
        end(at, id, reason, now());
        return true;
      });
      if (isEnded) log.note([id]);
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
        log.note(part);
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
  };
}

/** Stored sessions, for the operator's commands and the account page. */
function createListing(
  use: StoreConnection['use'],
): Pick<SessionStore, 'listByPrincipal' | 'list'> {
  return {
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
  };
}

/** What this process noted in its last moment; losing that shortens a session by no more than a minute. */
function writeLastUses(at: Connection, noted: readonly Use[]): void {
  if (noted.length === 0) return;
  try {
    transact(at, false, () => touchAll(at, noted));
  } catch {
    // Held by another process just now, or broken: a process that ends waits for nothing.
  }
}

function touchAll(at: Connection, uses: readonly Use[]): void {
  for (const [id, lastUsedAt] of uses) at.touch.run(lastUsedAt, id, lastUsedAt);
}

function end(at: Connection, id: number, reason: EndReason, time: number): number {
  at.remove.run(id);
  // Logged also when the row is gone: another process may still remember it.
  at.log.run(id, time, reason);
  return id;
}

/** A turn is a claim of the key with its holder behind it: all keys are of one length. */
function takeTurn(
  at: Connection,
  key: Uint8Array,
  holder: string,
  time: number,
  forMs: number,
): Turn {
  const own = Buffer.concat([key, Buffer.from(holder)]);
  for (const row of at.claimsFrom.all(key, Buffer.concat([key, BEHIND_ANY_HOLDER]))) {
    const found = row['key'] as Uint8Array;
    if (found.byteLength === key.byteLength) return 'claimed';
    const endsAt = Number(row['expires_at']);
    // One that ends later than any could was taken before the clock was set back.
    const stands = endsAt > time && endsAt <= time + LEASE_MAX_MS;
    if (stands && !own.equals(found)) return 'under_way';
    at.forgetClaim.run(found);
  }
  if (forMs > 0) at.claim.run(own, time + forMs);
  return 'taken';
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

const systemSchedule: Schedule = (afterMs, callback) => {
  const timer = setTimeout(callback, afterMs);
  timer.unref();
  return () => clearTimeout(timer);
};

function readMonotonicClock(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
