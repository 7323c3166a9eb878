/**
 * A Redis cluster of three masters without replicas.
 *
 * @module
 */

import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@sallyport/testing/wire/ports';
import { findPart, type Part, requirePart } from '../parts.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

/** The program that joins the servers. */
export const REDIS_CLI: Part = findPart('redis-cli');

/** A running cluster. */
export interface RedisCluster {
  readonly servers: readonly RedisServer[];
  /** The one that holds a key. */
  serverOf(key: string): Promise<RedisServer>;
  stop(): Promise<void>;
}

const SERVERS = 3;
const LOOK_MS = 50;
const PATIENCE_MS = 30_000;

/**
 * Starts it, and waits until every server says that the cluster is whole. When one is gone the others
 * stop serving after 2 s (`cluster-require-full-coverage` is on, as it is by default).
 *
 * @param appendOnly - Lets a server that is started again come back with its keys.
 */
export async function startRedisCluster(appendOnly = false): Promise<RedisCluster> {
  const servers: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const addresses: string[] = [];
    while (servers.length < SERVERS) {
      // Their own connections need a port each; 10,000 above the other, as by default, may not exist.
      const busPort = await freePort();
      const lines = ['cluster-enabled yes', `cluster-port ${busPort}`, 'cluster-node-timeout 2000'];
      const server = await startRedis({ appendOnly, lines });
      servers.push(server);
      addresses.push(`127.0.0.1:${server.port}@${busPort}`);
    }
    join(servers, addresses);
    const end = performance.now() + PATIENCE_MS;
    while (!(await isWhole(servers))) {
      if (performance.now() > end) throw new Error('the cluster does not become whole');
      await pause(LOOK_MS);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    servers,
    async serverOf(key) {
      const [first] = servers;
      const slot = Number(await first?.send('CLUSTER', 'KEYSLOT', key));
      const ranges = (await first?.send('CLUSTER', 'SLOTS')) as readonly Range[];
      const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
      const found = servers.find((server) => server.port === port);
      if (found === undefined) throw new Error(`no server holds slot ${slot}`);
      return found;
    },
    stop,
  };
}

/** A line of CLUSTER SLOTS: first slot, last slot, host and port of its master. */
type Range = readonly [number, number, readonly [string, number]];

function join(servers: readonly RedisServer[], addresses: readonly string[]): void {
  const args = ['--cluster', 'create', ...addresses, '--cluster-yes'];
  const { status, stdout } = spawnSync(requirePart(REDIS_CLI), args, {
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
  });
  if (status !== 0) throw new Error(`${servers.length} servers cannot be joined\n${stdout}`);
}

async function isWhole(servers: readonly RedisServer[]): Promise<boolean> {
  const states = await Promise.all(servers.map((server) => server.send('CLUSTER', 'INFO')));
  return states.every((state) => {
    const text = String(state);
    return text.includes('cluster_state:ok') && text.includes('cluster_known_nodes:3');
  });
}
