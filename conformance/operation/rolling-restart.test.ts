/**
 * Workers are replaced one after the other: gRPC calls go on, and signals that cross each other end well.
 * What happens under load is in `under-load.test.ts`.
 *
 * @module
 */

import { Client, credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { type Service, startService } from '../wire/platform.ts';
import { fromNow, ready, reconfigure } from '../wire/reloads.ts';
import { allEnded, childrenOf, isRunning, PATIENCE, workersOf } from '../wire/workers.ts';
import { signIn } from './under-load.ts';

const WORKERS = 2;
const FILE = `server: {workers: ${WORKERS}}`;
const HEALTH_CHECK = '/grpc.health.v1.Health/Check';

describe('Serve with workers', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({}, [], {}, undefined, [FILE]);
    await ready(service);
  });
  afterAll(() => service.stop());
  const pids = () => [...workersOf(service.running).values()];
  const signal = (name: NodeJS.Signals) => process.kill(service.running.pid, name);

  it('rolling restart under gRPC calls: 0 failed', async () => {
    const log = fromNow(service);
    const calls = startCalls(service.url);
    await expect.poll(() => calls.outcomes().get('ok') ?? 0, PATIENCE).toBeGreaterThan(100);
    signal('SIGUSR2');
    await log.waitForLines('restart_done', 1);
    const answered = calls.outcomes().get('ok') ?? 0;
    await expect
      .poll(() => calls.outcomes().get('ok') ?? 0, PATIENCE)
      .toBeGreaterThan(answered + 100);
    await calls.stop();
    expect([...calls.outcomes().keys()]).toEqual(['ok']);
  });

  it('by SIGUSR2 during a reload is left to that, which replaces every worker', async () => {
    const before = pids();
    const log = fromNow(service);
    signal('SIGHUP');
    await log.waitForLines('worker_listening', 1);
    signal('SIGUSR2');
    await log.waitForLines('restart_superseded', 1);
    await log.waitForLines('configuration_loaded', 1);
    expect(pids().filter((pid) => before.includes(pid))).toEqual([]);
    expect(pids().filter(isRunning)).toHaveLength(WORKERS);
    expect(log.linesOf('restart_begun')).toEqual([]);
  });

  it('by SIGHUP during a restart goes on with the reload', async () => {
    const before = pids();
    const log = fromNow(service);
    signal('SIGUSR2');
    await log.waitForLines('worker_listening', 1);
    signal('SIGHUP');
    await log.waitForLines('configuration_loaded', 1);
    expect(pids().filter((pid) => before.includes(pid))).toEqual([]);
    expect(log.linesOf('restart_done')).toEqual([]);
  });

  it('a SIGHUP or SIGUSR2 to a worker alone changes nothing', async () => {
    const before = pids();
    for (const pid of before) {
      process.kill(pid, 'SIGHUP');
      process.kill(pid, 'SIGUSR2');
    }
    for (let count = 0; count < 20; count += 1)
      expect((await exchange(`${service.url}/healthz`)).status).toBe(200);
    expect(pids()).toEqual(before);
    expect(before.filter(isRunning)).toEqual(before);
  });

  it('one of which is killed during a roll is started again, and all are new in the end', async () => {
    const cookie = await signIn(service);
    const before = pids();
    const log = fromNow(service);
    signal('SIGUSR2');
    process.kill(before[1] ?? 0, 'SIGKILL');
    await log.waitForLines('restart_done', 1);
    expect(pids().filter((pid) => before.includes(pid))).toEqual([]);
    // The log may name last a worker that the roll has replaced already.
    const workers = () => childrenOf(service.running.pid).filter(isRunning);
    await expect.poll(() => workers().length, PATIENCE).toBe(WORKERS);
    expect(workers().filter((pid) => before.includes(pid))).toEqual([]);
    expect((await exchange(`${service.url}/me`, { headers: { cookie } })).status).toBe(200);
  });

  it('by a reload that removes a group refuses its session in every one of them', async () => {
    const cookie = await signIn(service, { groups: ['core'] });
    const me = async () => {
      const { status, body } = await exchange(`${service.url}/me`, { headers: { cookie } });
      return status === 200
        ? '200'
        : `${status} ${(JSON.parse(body) as { readonly reason: string }).reason}`;
    };
    const ask = () => Promise.all(Array.from({ length: 30 }, me));
    expect(new Set(await ask())).toEqual(new Set(['200']));
    await reconfigure(service, [FILE, 'access: {groups: [ops]}']);
    expect(new Set(await ask())).toEqual(new Set(['403 not_allowed']));
  });

  it('stopped during a roll ends with 0 and leaves no process', async () => {
    const before = pids();
    const log = fromNow(service);
    signal('SIGUSR2');
    await log.waitForLines('worker_listening', 1);
    const all = [...before, ...pids()];
    expect(await service.running.stop()).toBe(0);
    await allEnded(all);
    expect(log.linesOf('worker_ended')).toEqual([]);
  });
});

const CALLERS = 8;

/** Calls over a few connections of an ordinary gRPC client, one call after the other on each. */
function startCalls(url: string) {
  const outcomes = new Map<string, number>();
  const { port } = new URL(url);
  const none = (bytes: Buffer): Buffer => bytes;
  let isOver = false;
  const client = () =>
    new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    });
  const clients = Array.from({ length: CALLERS }, client);
  const call = (caller: Client) =>
    new Promise<string>((resolve) => {
      caller.makeUnaryRequest(HEALTH_CHECK, none, none, Buffer.alloc(0), (error) =>
        resolve(error === null ? 'ok' : `${error.code} ${error.details}`),
      );
    });
  const calling = clients.map(async (caller) => {
    while (!isOver) {
      const outcome = await call(caller);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    caller.close();
  });
  return {
    outcomes: () => outcomes,
    async stop() {
      isOver = true;
      await Promise.all(calling);
    },
  };
}
