/**
 * How the Redis store writes one session: a single binary value, so that a renewal replaces all of it
 * at once and a noted use changes six bytes in place.
 *
 * Big-endian: version (1 byte), flags (1), generation (4), last use (6), absolute end (6), idle time
 * (6), start of the sign-in (6), lengths of the principal key (1), the sid key (1) and the metadata
 * (4); then both keys, the metadata, and the tokens to the end. The scripts read the fixed part.
 *
 * @module
 */

import type { StoredSession } from '../session-store.ts';

/** Version of the layout, see docs/storage-schema.md; a record of another one is not guessed at. */
export const RECORD_VERSION = 1;

const RENEWAL_SENT = 1;
const FIXED_BYTES = 36;
const TIME_BYTES = 6;

/** Writes a session. Its id is not in the record: it stands in the key. */
export function encodeRecord(session: StoredSession): Buffer {
  const { principalKey, sidKey = new Uint8Array(), metadata, tokens } = session;
  const fixed = Buffer.alloc(FIXED_BYTES);
  fixed.writeUInt8(RECORD_VERSION, 0);
  fixed.writeUInt8(session.renewalSent ? RENEWAL_SENT : 0, 1);
  fixed.writeUInt32BE(session.generation, 2);
  fixed.writeUIntBE(session.lastUsedAt, 6, TIME_BYTES);
  fixed.writeUIntBE(session.absoluteEnd, 12, TIME_BYTES);
  fixed.writeUIntBE(session.idleTimeoutMs, 18, TIME_BYTES);
  fixed.writeUIntBE(session.signInAt, 24, TIME_BYTES);
  fixed.writeUInt8(principalKey.length, 30);
  fixed.writeUInt8(sidKey.length, 31);
  fixed.writeUInt32BE(metadata.length, 32);
  return Buffer.concat([fixed, principalKey, sidKey, metadata, tokens]);
}

/**
 * Reads a record.
 *
 * @param bytes - The value in the store. Untrusted.
 *
 * @returns `undefined` when it is not of this layout's version, or cut short.
 */
export function decodeRecord(id: number, bytes: Buffer): StoredSession | undefined {
  if (bytes.length < FIXED_BYTES || bytes.readUInt8(0) !== RECORD_VERSION) return undefined;
  const sidAt = FIXED_BYTES + bytes.readUInt8(30);
  const metadataAt = sidAt + bytes.readUInt8(31);
  const tokensAt = metadataAt + bytes.readUInt32BE(32);
  if (tokensAt > bytes.length) return undefined;
  return {
    id,
    generation: bytes.readUInt32BE(2),
    metadata: toBytes(bytes, metadataAt, tokensAt),
    tokens: toBytes(bytes, tokensAt, bytes.length),
    lastUsedAt: bytes.readUIntBE(6, TIME_BYTES),
    absoluteEnd: bytes.readUIntBE(12, TIME_BYTES),
    idleTimeoutMs: bytes.readUIntBE(18, TIME_BYTES),
    principalKey: toBytes(bytes, FIXED_BYTES, sidAt),
    sidKey: metadataAt === sidAt ? undefined : toBytes(bytes, sidAt, metadataAt),
    signInAt: bytes.readUIntBE(24, TIME_BYTES),
    renewalSent: (bytes.readUInt8(1) & RENEWAL_SENT) !== 0,
  };
}

/** A view, not a copy: the reply belongs to its reader alone. */
function toBytes(bytes: Buffer, from: number, to: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from);
}
