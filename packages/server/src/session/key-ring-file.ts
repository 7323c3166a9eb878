/**
 * The key ring as a file: made at first use, read by every process, rotated by adding a key.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, readFileVersion, writeWholeFile } from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';
import type { KeyRingSource, RingKey } from './key-ring.ts';

/** How long a new key waits before it seals, so that every replica has read it by then. */
export const SEALS_AFTER_MS = 600_000;
const KEY_BYTES = 32;
const RING_MAX_BYTES = 65_536;
const RING_MAX_KEYS = 64;

/**
 * Opens the ring in a file, and makes the file with one key when there is none.
 *
 * Of several processes that start at once exactly one creates the file; the others read it. The file
 * is written to a temporary file and linked into place, mode 0600, so that readers never see a partial ring.
 *
 * @param path - The ring file; its folder is created with mode 0700.
 */
export function createKeyRingFile(path: string, now: () => number): KeyRingSource {
  return {
    read() {
      const version = readFileVersion(path) ?? create(path, now());
      return { version, keys: parseRing(readFileSync(path, 'utf8')) };
    },
    version: () => readFileVersion(path) ?? '',
  };
}

/**
 * Adds a key that will seal from ten minutes on, and gives the older ones an end.
 *
 * @param path - An existing ring file.
 * @param longestSealedMs - How long anything sealed by an older key may have to be opened: the absolute session lifetime.
 *
 * @returns The new key's id.
 * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when the file is missing, cannot be read, parsed or written, or is
 *   full: a ring that cannot be read would end all sessions.
 */
export function rotateKeyRingFile(path: string, now: number, longestSealedMs: number): string {
  if (!existsSync(path))
    throw unusable(
      `there is no key ring ${path}; the server makes it at the first sign-in, or it has another state directory`,
    );
  try {
    return addKey(path, now, longestSealedMs);
  } catch (error) {
    throw unusableKeyRing(path, error);
  }
}

/** `SP_KEY_RING_UNUSABLE` for a file and what was thrown: the system's code, or the parser's own words, which never show content. */
export function unusableKeyRing(path: string, problem: unknown): SallyportError {
  return unusable(`${path} cannot be used: ${describeProblem(problem)}`, problem);
}

function describeProblem(problem: unknown): string {
  if (!(problem instanceof Error)) return 'unreadable';
  return 'code' in problem ? String(problem.code) : problem.message;
}

function unusable(detail: string, cause?: unknown): SallyportError {
  return new SallyportError('SP_KEY_RING_UNUSABLE', { component: 'key-ring', detail, cause });
}

function addKey(path: string, now: number, longestSealedMs: number): string {
  const added = createKey(now + SEALS_AFTER_MS);
  const opensUntil = added.sealsFrom + longestSealedMs + SEALS_AFTER_MS;
  const kept = parseRing(readFileSync(path, 'utf8'))
    .filter((key) => key.opensUntil === undefined || key.opensUntil > now)
    .map((key) => (key.opensUntil === undefined ? { ...key, opensUntil } : key));
  if (kept.length >= RING_MAX_KEYS)
    throw new TypeError('key ring: it holds 64 keys already; wait until the oldest has ended');
  writeWholeFile(path, formatRing([...kept, added]), { mode: 0o600, isFlushed: true });
  return added.kid;
}

/**
 * Parses the ring file.
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

function create(path: string, now: number): string {
  makeFolder(dirname(path), 0o700);
  // Linked and not renamed: of several processes that start at once the first one's ring stays.
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  writeFileSync(draft, formatRing([createKey(now)]), { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!isObject(error) || error['code'] !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  return readFileVersion(path) ?? '';
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
