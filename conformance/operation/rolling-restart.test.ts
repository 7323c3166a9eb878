/**
 * Workers are replaced one after the other while people work, and nobody notices.
 *
 * @module
 */

import { Client, credentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { type Service, startService } from '../wire/platform.ts';
import { allEnded, isRunning, PATIENCE, workersOf } from '../wire/workers.ts';
import {
  asSessions,
  configure,
  expectNoneFailed,
  linesOf,
  ready,
  signIn,
  told,
  underLoad,
} from './under-load.ts';

const WORKERS = 2;
const HEALTH_CHECK = '/grpc.health.v1.Health/Check';
const pidsOf = (service: Service) => [...workersOf(service.running).values()];

describe('Serve with workers', () => {
  let service: Service;
  afterEach(() => service.stop());

  async function begin(): Promise<readonly string[]> {
    const file = [`server: {workers: ${WORKERS}}`];
    service = await startService({}, [], {}, undefined, file);
    await ready(service);
    return Promise.all(Array.from({ length: 4 }, () => signIn(service)));
  }

  it('rolling restart under 3,000 requests a second: 0 failed', async () => {
    const cookies = await begin();
    const before = pidsOf(service);
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      process.kill(service.running.pid, 'SIGUSR2');
      await told(service, 'restart_done', 1);
    });
    expectNoneFailed('rolling restart', report);
    const after = pidsOf(service);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    expect(after.filter(isRunning)).toHaveLength(WORKERS);
    await allEnded(before);
    for (const event of ['worker_ended', 'worker_killed', 'sweep_failed', 'verdict_undecided'])
      expect(linesOf(service, event)).toEqual([]);
    expect(service.running.stdout()).toBe(`ready ${service.running.url}\n`);
  });

  it('rolling restart under gRPC calls: 0 failed', async () => {
    await begin();
    const calls = startCalls(service.url);
    await expect.poll(() => calls.outcomes().get('ok') ?? 0, PATIENCE).toBeGreaterThan(100);
    process.kill(service.running.pid, 'SIGUSR2');
    await told(service, 'restart_done', 1);
    const answered = calls.outcomes().get('ok') ?? 0;
    await expect
      .poll(() => calls.outcomes().get('ok') ?? 0, PATIENCE)
      .toBeGreaterThan(answered + 100);
    await calls.stop();
    expect([...calls.outcomes().keys()]).toEqual(['ok']);
  });

  it('reload with workers under 3,000 requests a second: 0 failed', async () => {
    const cookies = await begin();
    const before = pidsOf(service);
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      configure(service, [`server: {workers: ${WORKERS}}`, 'rateLimit: {perMinute: 601}']);
      await told(service, 'configuration_loaded', 2);
    });
    expectNoneFailed('reload with workers', report);
    expect(linesOf(service, 'configuration_loaded')[1]).toMatchObject({
      reason: 'file_changed',
      changed: ['rateLimit.perMinute'],
    });
    expect(pidsOf(service).filter((pid) => before.includes(pid))).toEqual([]);
  });

  it('workers that are killed under the same load fail requests: what fails is counted', async () => {
    const cookies = await begin();
    const report = await underLoad(service.url, asSessions(cookies), async (load) => {
      for (let round = 0; Object.keys(load.failed()).length === 0 && round < 5; round += 1) {
        const pids = pidsOf(service);
        for (const pid of pids) process.kill(pid, 'SIGKILL');
        await expect
          .poll(() => pidsOf(service).filter((pid) => !pids.includes(pid)).length, PATIENCE)
          .toBe(WORKERS);
      }
    });
    expect(Object.keys(report.failed)).not.toEqual([]);
    expect(report.ok).toBeLessThan(report.asked);
  });

  it('a new configuration with which no worker can start ends the roll: the old ones stay, and the log says why', async () => {
    const cookies = await begin();
    const before = pidsOf(service);
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      configure(service, [
        `server: {workers: ${WORKERS}}`,
        'bearer: {introspection: {endpoint: http://127.0.0.1:9, clientId: c, clientSecretFile: ./nowhere}}',
      ]);
      await told(service, 'configuration_refused', 1);
    });
    expectNoneFailed('roll that cannot be', report);
    expect(linesOf(service, 'configuration_refused')).toMatchObject([
      {
        problem: expect.stringMatching(/^worker 1 could not be replaced: .*nowhere.*no such file/),
      },
    ]);
    expect(pidsOf(service)).toEqual(before);
    expect(before.filter(isRunning)).toEqual(before);
  });

  it('one of which is killed during a roll is started again, and all are new in the end', async () => {
    const [cookie = ''] = await begin();
    const before = pidsOf(service);
    process.kill(service.running.pid, 'SIGUSR2');
    process.kill(before[1] ?? 0, 'SIGKILL');
    await told(service, 'restart_done', 1);
    const after = pidsOf(service);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    await expect.poll(() => pidsOf(service).filter(isRunning).length, PATIENCE).toBe(WORKERS);
    expect((await exchange(`${service.url}/me`, { headers: { cookie } })).status).toBe(200);
  });

  it('by SIGUSR2 during a reload is left to that, which replaces every worker', async () => {
    await begin();
    const before = pidsOf(service);
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'worker_listening', WORKERS + 1);
    process.kill(service.running.pid, 'SIGUSR2');
    await told(service, 'restart_superseded', 1);
    await told(service, 'configuration_loaded', 2);
    expect(pidsOf(service).filter((pid) => before.includes(pid))).toEqual([]);
    expect(pidsOf(service).filter(isRunning)).toHaveLength(WORKERS);
    expect(linesOf(service, 'restart_begun')).toEqual([]);
  });

  it('by SIGHUP during a restart goes on with the reload', async () => {
    await begin();
    const before = pidsOf(service);
    process.kill(service.running.pid, 'SIGUSR2');
    await told(service, 'worker_listening', WORKERS + 1);
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'configuration_loaded', 2);
    expect(pidsOf(service).filter((pid) => before.includes(pid))).toEqual([]);
    expect(linesOf(service, 'restart_done')).toEqual([]);
  });

  it('stopped during a roll ends with 0 and leaves no process', async () => {
    await begin();
    const before = pidsOf(service);
    process.kill(service.running.pid, 'SIGUSR2');
    await told(service, 'worker_listening', WORKERS + 1);
    const all = [...before, ...pidsOf(service)];
    expect(await service.running.stop()).toBe(0);
    await allEnded(all);
    expect(linesOf(service, 'worker_ended')).toEqual([]);
  });

  it('a SIGHUP or SIGUSR2 to a worker alone changes nothing', async () => {
    await begin();
    const pids = pidsOf(service);
    for (const pid of pids) {
      process.kill(pid, 'SIGHUP');
      process.kill(pid, 'SIGUSR2');
    }
    for (let count = 0; count < 20; count += 1)
      expect((await exchange(`${service.url}/healthz`)).status).toBe(200);
    expect(pidsOf(service)).toEqual(pids);
    expect(pids.filter(isRunning)).toEqual(pids);
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
