/**
 * Which server of a Redis Cluster holds our keys: they carry one hash tag, so it is one server.
 *
 * @module
 */

import { type RedisAccess, type RedisAddress, RedisConnection } from './redis-connection.ts';
import { storeUnavailable } from './redis-failure.ts';
import { type RedisReply, toList } from './redis-reply.ts';
import type { ServerFinder } from './redis-server-finder.ts';

/** What {@link createClusterFinder} needs. */
export interface ClusterOptions {
  /** Servers to ask; any one of the cluster knows all of it. */
  readonly seeds: readonly RedisAddress[];
  /** What stands between the braces of every key. */
  readonly hashTag: string;
  readonly access: RedisAccess;
  readonly deadlineMs: number;
}

const SLOTS = 16_384;

/** Creates the finder. The servers a search learns of are asked as well from then on. */
export function createClusterFinder(options: ClusterOptions): ServerFinder {
  const slot = hashSlot(options.hashTag);
  let known: readonly RedisAddress[] = [];

  async function ask(server: RedisAddress): Promise<RedisAddress> {
    const connection = await RedisConnection.open(server, options.access, options.deadlineMs);
    try {
      const ranges = parseSlots(await connection.send(['CLUSTER', 'SLOTS']), server);
      known = ranges.map(({ master }) => master);
      const owner = ranges.find(({ from, to }) => from <= slot && slot <= to);
      if (owner === undefined) throw storeUnavailable('no server of the cluster has our keys');
      return owner.master;
    } finally {
      connection.close();
    }
  }

  return {
    watches: false,
    async find() {
      // Asks all at once: every answer is as good as another, and some servers may be down.
      const servers = new Map(
        [...options.seeds, ...known].map((server) => [`${server.host} ${server.port}`, server]),
      );
      try {
        return await Promise.any([...servers.values()].map(ask));
      } catch {
        throw storeUnavailable('no server of the cluster can be asked');
      }
    },
    close() {},
  };
}

/** The slot of a key's hash tag: CRC-16/XMODEM modulo 16,384 (Redis Cluster specification). */
export function hashSlot(hashTag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(hashTag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1)
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly master: RedisAddress;
}

/** Reads the reply of `CLUSTER SLOTS`; a server that does not know its own host leaves it empty. */
function parseSlots(reply: RedisReply, asked: RedisAddress): readonly SlotRange[] {
  return toList(reply).flatMap((range): SlotRange[] => {
    const [from, to, master] = toList(range);
    const [name, port] = toList(master);
    if (typeof from !== 'number' || typeof to !== 'number' || typeof port !== 'number') return [];
    const host = String(name ?? '');
    const isKnown = host !== '' && host !== '?';
    return [{ from, to, master: { host: isKnown ? host : asked.host, port } }];
  });
}
