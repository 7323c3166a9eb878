/**
 * The local session store's SQL, prepared once for each connection.
 *
 * @module
 */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { SessionOwner, StoredMetadata, StoredSession } from '../session-store.ts';

const COLUMNS =
  'id, generation, metadata, tokens, last_used_at, absolute_end, idle_ms, principal_key, sid_key, sign_in_at, renewal_sent';

/** What can be asked of the file. */
export type StatementName =
  | 'insert'
  | 'select'
  | 'selectMetadata'
  | 'touch'
  | 'replace'
  | 'noteSent'
  | 'lease'
  | 'withdrawSent'
  | 'ofGeneration'
  | 'release'
  | 'remove'
  | 'log'
  | 'endReason'
  | 'claim'
  | 'claimsFrom'
  | 'forgetClaim'
  | 'ofPrincipal'
  | 'ofPrincipalWithoutSid'
  | 'ofSid'
  | 'markOwner'
  | 'ownerMark'
  | 'byPrincipal'
  | 'page'
  | 'dataVersion'
  | 'logAfter'
  | 'lastSequence'
  | 'beginRead'
  | 'commit';

/** Each uses an index; none looks through a table but `page`, and the two that clear small ones. */
const SQL: Readonly<Record<StatementName, string>> = {
  insert: `INSERT INTO session (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  select: `SELECT ${COLUMNS} FROM session WHERE id = ?`,
  selectMetadata: 'SELECT generation, metadata, last_used_at FROM session WHERE id = ?',
  touch: 'UPDATE session SET last_used_at = ? WHERE id = ? AND last_used_at < ?',
  replace:
    'UPDATE session SET generation = ?, metadata = ?, tokens = ?, last_used_at = max(last_used_at, ?), absolute_end = ?, idle_ms = ?, renewal_sent = 0 WHERE id = ? AND generation = ?',
  noteSent: 'UPDATE session SET renewal_sent = 1 WHERE id = ? AND generation = ?',
  withdrawSent:
    'UPDATE session SET renewal_sent = 0 WHERE id = ? AND generation = ? AND EXISTS (SELECT 1 FROM lease WHERE lease.session_id = session.id AND holder = ?)',
  lease:
    'INSERT INTO lease (session_id, holder, expires_at) VALUES (?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at WHERE lease.holder = excluded.holder OR lease.expires_at <= ? OR lease.expires_at > ?',
  ofGeneration: 'SELECT id FROM session WHERE id = ? AND generation = ?',
  release: 'DELETE FROM lease WHERE session_id = ? AND holder = ?',
  remove: 'DELETE FROM session WHERE id = ?',
  log: 'INSERT INTO revocation (session_id, revoked_at, reason) VALUES (?, ?, ?)',
  endReason: 'SELECT reason FROM revocation WHERE session_id = ? ORDER BY sequence DESC LIMIT 1',
  claim: 'INSERT INTO claimed (key, expires_at) VALUES (?, ?) ON CONFLICT (key) DO NOTHING',
  claimsFrom: 'SELECT key, expires_at FROM claimed WHERE key >= ? AND key < ?',
  forgetClaim: 'DELETE FROM claimed WHERE key = ?',
  ofPrincipal: 'SELECT id FROM session WHERE principal_key = ? AND sign_in_at <= ? LIMIT ?',
  ofPrincipalWithoutSid:
    'SELECT id FROM session WHERE principal_key = ? AND sid_key IS NULL AND sign_in_at <= ? LIMIT ?',
  ofSid: 'SELECT id FROM session WHERE sid_key = ? AND sign_in_at <= ? LIMIT ?',
  markOwner:
    'INSERT INTO owner_revocation (kind, key, sign_ins_up_to, revoked_at, reason) VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET sign_ins_up_to = max(sign_ins_up_to, excluded.sign_ins_up_to), revoked_at = excluded.revoked_at, reason = excluded.reason',
  ownerMark:
    'SELECT reason FROM owner_revocation WHERE kind = ? AND key = ? AND sign_ins_up_to >= ?',
  byPrincipal: `SELECT ${COLUMNS} FROM session WHERE principal_key = ? ORDER BY row DESC LIMIT ?`,
  page: `SELECT row, ${COLUMNS} FROM session WHERE row > ? ORDER BY row LIMIT ?`,
  dataVersion: 'PRAGMA data_version',
  logAfter:
    'SELECT sequence, session_id FROM revocation WHERE sequence > ? ORDER BY sequence LIMIT ?',
  lastSequence: 'SELECT coalesce(max(sequence), 0) AS sequence FROM revocation',
  beginRead: 'BEGIN DEFERRED',
  commit: 'COMMIT',
};

/** The open file with its statements. */
export type Connection = { readonly db: DatabaseSync } & Readonly<
  Record<StatementName, StatementSync>
>;

/** Prepares the statements. */
export function prepareStatements(db: DatabaseSync): Connection {
  const statements = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)] as const);
  // Every name of the map is there: the entries are its own.
  return { db, ...Object.fromEntries(statements) } as Connection;
}

/** A session as the columns of `insert`. */
export function toColumns(session: StoredSession): SQLInputValue[] {
  return [
    session.id,
    session.generation,
    session.metadata,
    session.tokens,
    session.lastUsedAt,
    session.absoluteEnd,
    session.idleTimeoutMs,
    session.principalKey,
    session.sidKey ?? null,
    session.signInAt,
    session.renewalSent ? 1 : 0,
  ];
}

/** A row as a session; `undefined` for no row, and for one that is not of this store's making. */
export function toStoredSession(
  row: Record<string, unknown> | undefined,
): StoredSession | undefined {
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
    idleTimeoutMs: Number(row['idle_ms']),
    principalKey,
    sidKey: sidKey instanceof Uint8Array ? sidKey : undefined,
    signInAt: Number(row['sign_in_at']),
    renewalSent: row['renewal_sent'] === 1,
  };
}

/** A row of `selectMetadata`; `undefined` as in {@link toStoredSession}. */
export function toStoredMetadata(
  id: number,
  row: Record<string, unknown> | undefined,
): StoredMetadata | undefined {
  const metadata = row?.['metadata'];
  if (row === undefined || !(metadata instanceof Uint8Array)) return undefined;
  return {
    id,
    generation: Number(row['generation']),
    metadata,
    lastUsedAt: Number(row['last_used_at']),
  };
}

/** The owners whose revocation concerns a session. */
export function ownersOf({ principalKey, sidKey }: StoredSession): readonly SessionOwner[] {
  return [
    { kind: 'principal', key: principalKey },
    sidKey === undefined
      ? { kind: 'principal_without_sid', key: principalKey }
      : { kind: 'sid', key: sidKey },
  ];
}
