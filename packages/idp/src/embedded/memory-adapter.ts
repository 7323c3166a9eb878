/**
 * Where the embedded IdP keeps sessions, codes, tokens and grants: in this process.
 *
 * A restart ends all sessions and refresh tokens of the IdP; applications, secrets, keys
 * and passwords are elsewhere and stay.
 *
 * @module
 */

/** What the provider stores; fields it looks up by are named, the rest is opaque. */
interface StoredPayload {
  readonly uid?: string;
  readonly userCode?: string;
  readonly grantId?: string;
  readonly accountId?: string;
  consumed?: number;
  readonly [member: string]: unknown;
}

/** The storage of one kind of record, in the shape that `oidc-provider` calls. */
interface ModelAdapter {
  upsert(id: string, payload: StoredPayload, expiresInSeconds?: number): Promise<void>;
  find(id: string): Promise<StoredPayload | undefined>;
  findByUid(uid: string): Promise<StoredPayload | undefined>;
  findByUserCode(userCode: string): Promise<StoredPayload | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

/** All records of one provider. */
export interface MemoryStore {
  adapterFor(model: string): ModelAdapter;
  clear(): void;
}

interface Entry {
  readonly payload: StoredPayload;
  readonly forgetAt: number;
}

/** Settings of {@link createMemoryStore}. */
export interface MemoryStoreOptions {
  /** Milliseconds for which a used refresh token still counts as unused; 0 when absent. */
  readonly refreshTokenLeewayMs?: number;
}

/** Unauthenticated requests create records too, so their number is bounded. */
const RECORDS_MAX = 5_000;

/** How long an expired record is still found: "expired" is a better answer than "unknown". */
const EXPIRED_KEPT_MS = 10 * 60 * 1_000;

/**
 * The records of one kind, in two halves with a bound each. `kept`: records that were read again or that
 * belong to an account. `fresh`: the rest. Abandoned requests, however many, displace only each other.
 */
interface Table {
  readonly fresh: Map<string, Entry>;
  readonly kept: Map<string, Entry>;
}

/**
 * Creates an empty store.
 *
 * Bounded for each kind of record: those no longer wanted are dropped first, then the oldest. Does
 * not refuse a record that has expired: the provider checks that itself.
 *
 * @param now - Current time in epoch milliseconds.
 */
export function createMemoryStore(
  now: () => number,
  { refreshTokenLeewayMs = 0 }: MemoryStoreOptions = {},
): MemoryStore {
  const tableByModel = new Map<string, Table>();

  return {
    adapterFor(model) {
      const table = tableByModel.get(model) ?? { fresh: new Map(), kept: new Map() };
      tableByModel.set(model, table);
      return createModelAdapter(table, now, model === 'RefreshToken' ? refreshTokenLeewayMs : 0);
    },
    clear() {
      for (const { fresh, kept } of tableByModel.values()) {
        fresh.clear();
        kept.clear();
      }
    },
  };
}

function createModelAdapter(table: Table, now: () => number, leewayMs: number): ModelAdapter {
  const { fresh, kept } = table;
  const entryOf = (id: string): Entry | undefined => kept.get(id) ?? fresh.get(id);

  const live = (entry: Entry | undefined): StoredPayload | undefined => {
    if (entry === undefined || entry.forgetAt <= now()) return undefined;
    const { consumed, ...unused } = entry.payload;
    return consumed !== undefined && now() < consumed * 1_000 + leewayMs ? unused : entry.payload;
  };

  const findBy = (isMatch: (payload: StoredPayload) => boolean): StoredPayload | undefined => {
    for (const half of [kept, fresh])
      for (const entry of half.values()) if (isMatch(entry.payload)) return live(entry);
    return undefined;
  };

  const put = (half: Map<string, Entry>, id: string, entry: Entry): void => {
    if (!half.has(id) && half.size >= RECORDS_MAX) makeRoom(half, now());
    half.set(id, entry);
  };

  return {
    async upsert(id, payload, expiresInSeconds) {
      const lifetimeMs =
        expiresInSeconds === undefined ? Number.POSITIVE_INFINITY : expiresInSeconds * 1_000;
      const entry = { payload, forgetAt: now() + lifetimeMs + EXPIRED_KEPT_MS };
      const isKept = kept.has(id) || payload.accountId !== undefined;
      if (isKept) fresh.delete(id);
      put(isKept ? kept : fresh, id, entry);
    },
    async find(id) {
      const entry = fresh.get(id);
      if (entry !== undefined) {
        fresh.delete(id);
        put(kept, id, entry);
      }
      return live(entryOf(id));
    },
    async findByUid(uid) {
      return findBy((payload) => payload.uid === uid);
    },
    async findByUserCode(userCode) {
      return findBy((payload) => payload.userCode === userCode);
    },
    async consume(id) {
      const payload = entryOf(id)?.payload;
      // The first use counts: a leeway that began again with every use would never end.
      if (payload !== undefined) payload.consumed ??= Math.floor(now() / 1_000);
    },
    async destroy(id) {
      kept.delete(id);
      fresh.delete(id);
    },
    async revokeByGrantId(grantId) {
      for (const half of [kept, fresh])
        for (const [id, entry] of half) if (entry.payload.grantId === grantId) half.delete(id);
    },
  };
}

function makeRoom(entryById: Map<string, Entry>, now: number): void {
  for (const [id, entry] of entryById) if (entry.forgetAt <= now) entryById.delete(id);
  for (const id of entryById.keys()) {
    if (entryById.size < RECORDS_MAX) return;
    entryById.delete(id);
  }
}
