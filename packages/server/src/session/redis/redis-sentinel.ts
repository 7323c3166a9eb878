/**
 * Which server is the master, as Redis Sentinel has it.
 *
 * @module
 */

import { type RedisAccess, type RedisAddress, RedisConnection } from './redis-connection.ts';
import { storeUnavailable } from './redis-failure.ts';
import { type RedisReply, toFields, toList } from './redis-reply.ts';
import type { ServerFinder } from './redis-server-finder.ts';

/** What {@link createSentinelFinder} needs. */
export interface SentinelOptions {
  readonly sentinels: readonly RedisAddress[];
  /** The master's name in the sentinels' configuration. */
  readonly master: string;
  /** Rights at the sentinels themselves. */
  readonly access: RedisAccess;
  readonly deadlineMs: number;
}

/** What one sentinel holds to be true. */
interface Opinion {
  readonly address: RedisAddress;
  /** Counts failovers: of two sentinels the one that knows of more is right. */
  readonly epoch: number;
}

/** After the first answer, others are waited for this long; a sentinel that is down must not hold up a failover. */
const OTHERS_MS = 250;
/** Who heard of a failover is believed for so long, should it not answer; by then the others know, or it was undone. */
const OUTDATED_MS = 10_000;

/**
 * Creates the finder. Every search asks all sentinels at once, on connections that are kept, and
 * believes the one that knows of the latest failover: a sentinel that has not heard of it yet, or was
 * cut off together with the old master, would name that master.
 */
export function createSentinelFinder(options: SentinelOptions): ServerFinder {
  const connections = new Map<RedisAddress, RedisConnection>();
  let latest = { epoch: -1, at: 0 };
  let isClosed = false;

  async function connect(sentinel: RedisAddress): Promise<RedisConnection> {
    const kept = connections.get(sentinel);
    if (kept !== undefined) return kept;
    const connection = await RedisConnection.open(sentinel, options.access, options.deadlineMs);
    if (isClosed || connections.has(sentinel)) {
      connection.close();
      throw storeUnavailable('no sentinel is asked any more');
    }
    connections.set(sentinel, connection);
    void connection.closed.then(() => connections.delete(sentinel));
    return connection;
  }

  async function ask(sentinel: RedisAddress): Promise<Opinion> {
    const connection = await connect(sentinel);
    try {
      // Until a failover is over, the sentinel that leads it returns the old address with the new count.
      const [master, address] = await Promise.all([
        connection.send(['SENTINEL', 'MASTER', options.master]),
        connection.send(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', options.master]),
      ]);
      return parseOpinion(master, address);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  return {
    watches: true,
    async find() {
      const opinions = await collect(options.sentinels.map(ask));
      const [best] = opinions.toSorted((one, other) => other.epoch - one.epoch);
      if (best === undefined) throw storeUnavailable('no sentinel knows the master');
      const now = performance.now();
      if (best.epoch < latest.epoch && now - latest.at < OUTDATED_MS)
        throw storeUnavailable('the sentinels that answer do not know of the latest failover');
      latest = { epoch: best.epoch, at: now };
      return best.address;
    },
    close() {
      isClosed = true;
      for (const connection of connections.values()) connection.close();
    },
  };
}

/** What came in until all have answered or failed, or {@link OTHERS_MS} after the first answer. */
async function collect<T>(asked: readonly Promise<T>[]): Promise<readonly T[]> {
  const answers: T[] = [];
  const { promise: enough, resolve: stop } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const noting = asked.map(async (each) => {
    try {
      answers.push(await each);
      timer ??= setTimeout(stop, OTHERS_MS);
    } catch {
      // A sentinel that does not answer has no opinion.
    }
  });
  await Promise.race([Promise.all(noting), enough]);
  clearTimeout(timer);
  return answers;
}

/** Reads the replies of `SENTINEL MASTER`, names and values in turn, and `GET-MASTER-ADDR-BY-NAME`. */
function parseOpinion(master: RedisReply, address: RedisReply): Opinion {
  const [name, portText] = toList(address);
  const [host, port] = [String(name ?? ''), Number(portText)];
  if (host === '' || !(port > 0)) throw storeUnavailable('a sentinel does not know the master');
  return { address: { host, port }, epoch: Number(toFields(master).get('config-epoch')) };
}
