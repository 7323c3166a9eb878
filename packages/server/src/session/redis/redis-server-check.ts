/**
 * Decides from `INFO` whether a Redis server may hold sessions: managed servers forbid `CONFIG`.
 *
 * @module
 */

import type { RedisConnection } from './redis-connection.ts';
import { storeUnavailable, storeUnsuitable } from './redis-failure.ts';

/** What a checked server can do. */
export interface ServerTraits {
  /** Whether it can be asked to wait until its own disk has a write (`WAITAOF`). */
  readonly waitsForDisk: boolean;
  /** Whether a restart of it may bring back what was ended shortly before. */
  readonly mayForget: boolean;
}

const OLDEST = [6, 2];
const WAITS_FOR_DISK_FROM = [7, 2];

/**
 * Asks a server about itself.
 *
 * @throws As `RedisConnection.send`.
 */
export async function readServerFacts(
  connection: RedisConnection,
): Promise<ReadonlyMap<string, string>> {
  const reply = await connection.send(['INFO']);
  return parseInfo(Buffer.isBuffer(reply) ? reply.toString('latin1') : '');
}

/** Reads the lines of `INFO`, `name:value`. Of a repeated name the first counts. */
export function parseInfo(text: string): ReadonlyMap<string, string> {
  const facts = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    if (name !== '' && !name.startsWith('#') && !facts.has(name))
      facts.set(name, line.slice(colon + 1).trim());
  }
  return facts;
}

/**
 * Judges a server.
 *
 * @param allowsWithoutAppendOnlyFile - `session.redis.allowWithoutAppendOnlyFile`.
 * @throws {SallyportError} `SP_STORE_UNSUITABLE` when its settings could lose a session or the end of
 *   one: it evicts, keeps no append-only file, or is older than 6.2. `SP_STORE_UNAVAILABLE` when it is
 *   no master or still loading.
 */
export function judgeServer(
  facts: ReadonlyMap<string, string>,
  allowsWithoutAppendOnlyFile: boolean,
): ServerTraits {
  const version = facts.get('redis_version') ?? '';
  if (!isAtLeast(version, OLDEST))
    throw storeUnsuitable(`the server is older than Redis ${OLDEST.join('.')}; use a newer one`);
  if (facts.get('loading') === '1') throw storeUnavailable('the server is loading its data');
  if (facts.get('role') !== 'master') throw storeUnavailable('the server is a replica');
  const policy = facts.get('maxmemory_policy') ?? 'unknown';
  if (policy !== 'noeviction')
    throw storeUnsuitable(
      `the server would drop sessions when it is full: set its maxmemory-policy to noeviction (it is ${describePolicy(policy)})`,
    );
  const hasAppendOnlyFile = facts.get('aof_enabled') === '1';
  if (!hasAppendOnlyFile && !allowsWithoutAppendOnlyFile)
    throw storeUnsuitable(
      'the server keeps no append-only file, so that a restart of it could bring back sessions that were ended: set its appendonly to yes, or accept that with session.redis.allowWithoutAppendOnlyFile',
    );
  return {
    waitsForDisk: hasAppendOnlyFile && isAtLeast(version, WAITS_FOR_DISK_FROM),
    mayForget: !hasAppendOnlyFile,
  };
}

function isAtLeast(version: string, [major = 0, minor = 0]: readonly number[]): boolean {
  const [, ownMajor, ownMinor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (ownMajor === undefined) return false;
  return Number(ownMajor) > major || (Number(ownMajor) === major && Number(ownMinor) >= minor);
}

/** A server's own word, shown only where it is one of the words it can be. */
function describePolicy(policy: string): string {
  return /^(?:allkeys|volatile)-(?:lru|lfu|lrm|random|ttl)$/.test(policy) ? policy : 'another';
}
