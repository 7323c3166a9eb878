/**
 * A master, two replicas and three sentinels that elect another master when it is gone.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@sallyport/testing/wire/ports';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { type Reply, sendOnce } from './raw-client.ts';
import { type RedisProcess, startRedisProcess } from './redis-process.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

/** Settings of {@link startSentinelGroup}. */
export interface SentinelOptions {
  /** Of the three servers; the sentinels themselves ask for none. */
  readonly password?: string;
  readonly appendOnly?: boolean;
  /**
   * Lets the sentinels speak to each other five times a second in place of every two seconds, and ask each server as
   * often in place of every ten: they make a replica of a master that came back after one second in place of ten.
   */
  readonly isTalkative?: boolean;
}

/** A watched group. */
export interface SentinelGroup {
  /** The name that the sentinels know the master by. */
  readonly name: string;
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** The servers; the first was the master when it began. */
  readonly servers: readonly RedisServer[];
  /** The master that most sentinels name. */
  currentMaster(): Promise<RedisServer>;
  /**
   * Kills the master and waits until the sentinels have made a replica the master, and it takes
   * writes. The old one can be started again with `restart()`; it comes back as a replica.
   */
  failover(): Promise<RedisServer>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const NAME = 'sessions';
const SENTINELS = 3;
const QUORUM = 2;
/**
 * A machine that stood still for two seconds makes a sentinel wait (TILT) before it trusts what it sees. With
 * less than that here, the sentinels would elect another master after it, which no test expects.
 */
const DOWN_AFTER_MS = 2_500;
const LOOK_MS = 50;
const PATIENCE_MS = 60_000;

/** Starts all six, and waits until each sentinel knows the others and both replicas. */
export async function startSentinelGroup(options: SentinelOptions = {}): Promise<SentinelGroup> {
  const folder = temporaryFolder();
  const stops: (() => Promise<void>)[] = [async () => folder.remove()];
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each();
  };
  try {
    const servers = [await startRedis(options)];
    const [{ port: masterPort } = { port: 0 }] = servers;
    while (servers.length < 3)
      servers.push(await startRedis({ ...options, replicaOf: masterPort }));
    for (const server of servers) stops.push(() => server.stop());
    // The sentinels ask a master for its replicas when they begin, and then not for ten seconds.
    for (const replica of servers.slice(1))
      await until('the replicas follow', async () =>
        String(await replica.send('INFO', 'replication')).includes('master_link_status:up'),
      );
    const ports: number[] = [];
    while (ports.length < SENTINELS) {
      const { port, running } = await startSentinel(folder.path, masterPort, options.password);
      // A server before 7.0 does not know it.
      if (options.isTalkative) await askSentinel(port, 'DEBUG', ...PERIODS).catch(() => {});
      ports.push(port);
      stops.push(() => running.kill());
    }
    const group = createGroup(servers, ports, stop);
    await until('the sentinels know each other', async () =>
      (await Promise.all(ports.map(knowsAll))).every(Boolean),
    );
    return group;
  } catch (error) {
    await stop();
    throw error;
  }
}

const PERIODS = ['publish-period', '200', 'info-period', '200'];

function createGroup(
  servers: readonly RedisServer[],
  ports: readonly number[],
  stop: () => Promise<void>,
): SentinelGroup {
  async function findMaster(): Promise<RedisServer | undefined> {
    const named = await Promise.all(ports.map(masterPortOf));
    return servers.find(({ port }) => named.filter((each) => each === port).length >= QUORUM);
  }

  return {
    name: NAME,
    sentinels: ports.map((port) => ({ host: HOST, port })),
    servers,
    async currentMaster() {
      const master = await findMaster();
      if (master === undefined) throw new Error('the sentinels do not agree on a master');
      return master;
    },
    async failover() {
      const old = await findMaster();
      await old?.kill();
      let elected: RedisServer | undefined;
      await until('another master is elected', async () => {
        elected = await findMaster();
        if (elected === undefined || elected === old) return false;
        return String(await elected.send('ROLE')).startsWith('master');
      });
      if (elected === undefined) throw new Error('no master was elected');
      return elected;
    },
    stop,
  };
}

async function startSentinel(
  folder: string,
  masterPort: number,
  password: string | undefined,
): Promise<{ readonly port: number; readonly running: RedisProcess }> {
  const port = await freePort();
  const file = join(folder, `sentinel-${port}.conf`);
  const lines = [
    `port ${port}`,
    `bind ${HOST}`,
    `dir ${folder}`,
    `sentinel monitor ${NAME} ${HOST} ${masterPort} ${QUORUM}`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 3000`,
    `sentinel parallel-syncs ${NAME} 1`,
    ...(password === undefined ? [] : [`sentinel auth-pass ${NAME} ${JSON.stringify(password)}`]),
  ];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return { port, running: await startRedisProcess(file, ['--sentinel']) };
}

function askSentinel(port: number, ...command: readonly string[]): Promise<Reply> {
  return sendOnce({ url: `redis://${HOST}:${port}` }, ['SENTINEL', ...command]);
}

async function masterPortOf(port: number): Promise<number | undefined> {
  const reply = await askSentinel(port, 'GET-MASTER-ADDR-BY-NAME', NAME);
  return Array.isArray(reply) ? Number(reply[1]) : undefined;
}

async function knowsAll(port: number): Promise<boolean> {
  const fields = (await askSentinel(port, 'MASTER', NAME)) as readonly string[];
  const count = (name: string): number => Number(fields[fields.indexOf(name) + 1]);
  return count('num-slaves') === 2 && count('num-other-sentinels') === SENTINELS - 1;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await pause(LOOK_MS);
  }
}
