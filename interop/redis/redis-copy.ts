/**
 * Everything a Redis server holds, as an attacker with a copy of it would have it.
 *
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESP_TYPES } from '@redis/client';
import type { RedisServer } from './redis-server.ts';

/** One key. */
export interface CopiedKey {
  readonly name: Buffer;
  /** The `s` of `{sallyport}:s:<id>`, for instance. */
  readonly kind: string;
  /** What stands behind it in the name. */
  readonly rest: Buffer;
  /** Its value, or the parts of it: fields and values, members and scores, entries of a stream. */
  readonly values: readonly Buffer[];
  /** As `DUMP` gives it. */
  readonly dump: Buffer;
  /** Milliseconds it has left; `undefined` when it stays. */
  readonly leftMs: number | undefined;
}

type Reply = Buffer | number | null | readonly Reply[];

/** How each type is read whole. */
const READ: Readonly<Record<string, (key: Buffer) => readonly (string | Buffer)[]>> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};
const NAME = /^\{[^}]*\}:(\w+)(?::(.*))?$/s;

/** Copies every key. */
export async function copyKeys(server: RedisServer): Promise<readonly CopiedKey[]> {
  const client = await server.connect();
  const send = async (command: readonly (string | Buffer)[]): Promise<Reply> =>
    (await client.sendCommand([...command], {
      typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer },
    })) as unknown as Reply;
  try {
    const copied: CopiedKey[] = [];
    for (const name of flatten(await send(['KEYS', '*']))) {
      const type = String(await send(['TYPE', name]));
      const read = READ[type];
      if (read === undefined) throw new Error(`a ${type} cannot be copied`);
      const [, kind = '', rest = ''] = NAME.exec(name.toString('latin1')) ?? [];
      const left = Number(await send(['PTTL', name]));
      copied.push({
        name,
        kind,
        rest: Buffer.from(rest, 'latin1'),
        values: flatten(await send(read(name))),
        dump: Buffer.concat(flatten(await send(['DUMP', name]))),
        leftMs: left < 0 ? undefined : left,
      });
    }
    return copied;
  } finally {
    client.destroy();
  }
}

/** Copies what the server has written to its disk, what was there before included. */
export async function copyFiles(server: RedisServer): Promise<readonly Buffer[]> {
  const reply = await server.send('CONFIG', 'GET', 'dir');
  const folder = join(Array.isArray(reply) ? String(reply[1]) : '', 'appendonlydir');
  return readdirSync(folder).map((name) => readFileSync(join(folder, name)));
}

function flatten(reply: Reply): readonly Buffer[] {
  if (reply === null) return [];
  if (Buffer.isBuffer(reply)) return [reply];
  if (typeof reply === 'number') return [Buffer.from(String(reply))];
  return reply.flatMap(flatten);
}
