/**
 * The key ring as text: parsed, made, and given a key. Where the text is kept is not its subject.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import type { RingKey } from './key-ring.ts';

/** How long a new key waits before it seals, so that every replica has read it by then. */
export const SEALS_AFTER_MS = 600_000;
const KEY_BYTES = 32;
const RING_MAX_BYTES = 65_536;
const RING_MAX_KEYS = 64;

/** The text of a ring with one new key, which seals at once. */
export function createRing(now: number): string {
  return formatRing([createKey(now)]);
}

/**
 * Adds a key that will seal from ten minutes on, gives the older ones an end, and leaves out those that have ended.
 *
 * @param text - A ring.
 * @param longestSealedMs - How long anything sealed by an older key may have to be opened: the absolute session lifetime.
 *
 * @returns The text of the new ring, and the new key's id.
 * @throws {TypeError} When the text is not a ring, or the ring is full; the message never shows its content.
 */
export function addRingKey(
  text: string,
  now: number,
  longestSealedMs: number,
): { readonly text: string; readonly kid: string } {
  const added = createKey(now + SEALS_AFTER_MS);
  const opensUntil = added.sealsFrom + longestSealedMs + SEALS_AFTER_MS;
  const kept = parseRing(text)
    .filter((key) => key.opensUntil === undefined || key.opensUntil > now)
    .map((key) => (key.opensUntil === undefined ? { ...key, opensUntil } : key));
  if (kept.length >= RING_MAX_KEYS)
    throw new TypeError('key ring: it holds 64 keys already; wait until the oldest has ended');
  return { text: formatRing([...kept, added]), kid: added.kid };
}

/**
 * Parses a ring.
 *
 * @throws {TypeError} When it is not a ring; the message never shows its content.
 */
export function parseRing(text: string): readonly RingKey[] {
  if (text.length > RING_MAX_BYTES) throw new TypeError('key ring: the file is too large');
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which holds keys.
    throw new TypeError('key ring: the file is not JSON');
  }
  const keys = isObject(document) ? document['keys'] : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > RING_MAX_KEYS) {
    throw new TypeError('key ring: "keys" is not a list of 1 to 64 keys');
  }
  const ring = keys.map(parseKey);
  if (new Set(ring.map((key) => key.kid)).size !== ring.length)
    throw new TypeError('key ring: a "kid" repeats');
  return ring;
}

function parseKey(entry: unknown, index: number): RingKey {
  if (!isObject(entry)) throw new TypeError(`key ring: keys[${index}] is not an object`);
  const { kid, key, sealsFrom, opensUntil } = entry;
  if (typeof kid !== 'string' || !/^[A-Za-z0-9_-]{8}$/.test(kid))
    throw new TypeError(`key ring: keys[${index}].kid is not 8 base64url characters`);
  if (typeof key !== 'string' || Buffer.from(key, 'base64url').length !== KEY_BYTES)
    throw new TypeError(`key ring: keys[${index}].key is not 32 bytes in base64url`);
  const seals = parseTime(sealsFrom);
  const opens = opensUntil === undefined ? undefined : parseTime(opensUntil);
  if (Number.isNaN(seals) || Number.isNaN(opens))
    throw new TypeError(`key ring: keys[${index}] has a time that is not ISO 8601`);
  return { kid, key, sealsFrom: seals, ...(opens === undefined ? {} : { opensUntil: opens }) };
}

function parseTime(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function createKey(sealsFrom: number): RingKey {
  return {
    kid: randomBytes(6).toString('base64url'),
    key: randomBytes(KEY_BYTES).toString('base64url'),
    sealsFrom,
  };
}

function formatRing(keys: readonly RingKey[]): string {
  const entries = keys.map(({ kid, key, sealsFrom, opensUntil }) => ({
    kid,
    key,
    sealsFrom: new Date(sealsFrom).toISOString(),
    ...(opensUntil === undefined ? {} : { opensUntil: new Date(opensUntil).toISOString() }),
  }));
  return `${JSON.stringify({ keys: entries }, null, 2)}\n`;
}
