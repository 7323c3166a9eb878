/**
 * Names of the keys of the Redis store, and of what stands in them; see docs/storage-schema.md.
 *
 * Short, because every session has several of them.
 *
 * @module
 */

import type { EndReason, SessionOwner } from '../session-store.ts';

/** The key names of one deployment. */
export interface RedisLayout {
  /** What every key begins with: the hash tag, so that a cluster keeps all of them on one server. */
  readonly prefix: string;
  /** Sorted set: sessions, with their owners, by the time they end. */
  readonly ends: string;
  /** Stream: ended ids. */
  readonly revoked: string;
  record(id: number): Buffer;
  lease(id: number): Buffer;
  reason(id: number): Buffer;
  /** Up to which sign-in an owner was revoked, and why. */
  mark(owner: SessionOwner): Buffer;
  claim(key: Uint8Array): Buffer;
  /** Whose turn it is to carry out what a claim stands for. */
  turn(key: Uint8Array): Buffer;
}

/** How long it is known why a session ended. */
export const REASON_KEPT_MS: number = 12 * 3_600_000;
/** Longer than any sign-in under way may take. */
export const MARK_KEPT_MS: number = 3_600_000;

const OWNER_LETTER = { principal: 'p', sid: 'i', principal_without_sid: 'n' } as const;
const ID_BYTES = 6;

/** A reason's place here is the digit that stands for it; new ones go to the end. */
const REASONS: readonly EndReason[] = [
  'signed_out',
  'session_replaced',
  'session_revoked',
  'renewal_refused',
  'renewal_lost',
];

/** Creates the names. */
export function createRedisLayout(keyPrefix: string): RedisLayout {
  const prefix = `{${keyPrefix}}:`;
  const name = (kind: string, rest: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from(`${prefix}${kind}:`), rest]);
  return {
    prefix,
    ends: `${prefix}ends`,
    revoked: `${prefix}revoked`,
    record: (id) => name('s', toIdBytes(id)),
    lease: (id) => name('l', toIdBytes(id)),
    reason: (id) => name('e', toIdBytes(id)),
    mark: (owner) => name('m', toOwnerBytes(owner)),
    claim: (key) => name('c', key),
    turn: (key) => name('t', key),
  };
}

/** An id as the store writes it. */
export function toIdBytes(id: number): Buffer {
  const bytes = Buffer.alloc(ID_BYTES);
  bytes.writeUIntBE(id, 0, ID_BYTES);
  return bytes;
}

/** Reads ids that stand one behind the other; what is not whole at the end is none. */
export function parseIds(bytes: Buffer): readonly number[] {
  return Array.from({ length: Math.floor(bytes.length / ID_BYTES) }, (_, index) =>
    bytes.readUIntBE(index * ID_BYTES, ID_BYTES),
  );
}

/** An owner as the store writes it: a letter, then the key. */
export function toOwnerBytes({ kind, key }: SessionOwner): Buffer {
  return Buffer.concat([Buffer.from(OWNER_LETTER[kind]), key]);
}

/** A reason as the store keeps it. */
export function toReasonDigit(reason: EndReason): string {
  return String(REASONS.indexOf(reason));
}

/** Reads {@link toReasonDigit}'s; `undefined` for anything else. */
export function parseReasonDigit(digit: string): EndReason | undefined {
  return /^\d$/.test(digit) ? REASONS[Number(digit)] : undefined;
}
