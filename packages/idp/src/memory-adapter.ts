/**
 * Where the embedded IdP keeps sessions, codes, tokens and grants: in this process.
 *
 * A restart signs everybody out of the IdP and ends refresh tokens; applications, secrets, keys
 * and passwords are elsewhere and stay.
 *
 * @module
 */

/** What the provider stores; fields it looks up by are named, the rest is opaque. */
interface StoredPayload {
  readonly uid?: string;
  readonly userCode?: string;
  readonly grantId?: string;
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

/** Unauthenticated requests create records too, so their number is bounded. */
const RECORDS_MAX = 5_000;

/** How long an expired record is still found: "expired" is a better answer than "unknown". */
const EXPIRED_KEPT_MS = 10 * 60 * 1_000;

/**
 * Creates an empty store.
 *
 * Bounded for each kind of record: those no longer wanted are dropped first, then the oldest. Does
 * not refuse a record that has expired: the provider checks that itself.
 *
 * @param now - Current time in epoch milliseconds.
 */
export function createMemoryStore(now: () => number): MemoryStore {
  const entriesByModel = new Map<string, Map<string, Entry>>();

  return {
    adapterFor(model) {
      const entryById = entriesByModel.get(model) ?? new Map<string, Entry>();
      entriesByModel.set(model, entryById);
      return createModelAdapter(entryById, now);
    },
    clear() {
      for (const entries of entriesByModel.values()) entries.clear();
    },
  };
}

function createModelAdapter(entryById: Map<string, Entry>, now: () => number): ModelAdapter {
  const live = (entry: Entry | undefined): StoredPayload | undefined =>
    entry !== undefined && entry.forgetAt > now() ? entry.payload : undefined;

  const findBy = (isMatch: (payload: StoredPayload) => boolean): StoredPayload | undefined => {
    for (const entry of entryById.values()) if (isMatch(entry.payload)) return live(entry);
    return undefined;
  };

  return {
    async upsert(id, payload, expiresInSeconds) {
      const lifetimeMs =
        expiresInSeconds === undefined ? Number.POSITIVE_INFINITY : expiresInSeconds * 1_000;
      if (!entryById.has(id) && entryById.size >= RECORDS_MAX) makeRoom(entryById, now());
      entryById.set(id, { payload, forgetAt: now() + lifetimeMs + EXPIRED_KEPT_MS });
    },
    async find(id) {
      return live(entryById.get(id));
    },
    async findByUid(uid) {
      return findBy((payload) => payload.uid === uid);
    },
    async findByUserCode(userCode) {
      return findBy((payload) => payload.userCode === userCode);
    },
    async consume(id) {
      const payload = entryById.get(id)?.payload;
      if (payload !== undefined) payload.consumed = Math.floor(now() / 1_000);
    },
    async destroy(id) {
      entryById.delete(id);
    },
    async revokeByGrantId(grantId) {
      for (const [id, entry] of entryById) {
        if (entry.payload.grantId === grantId) entryById.delete(id);
      }
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
