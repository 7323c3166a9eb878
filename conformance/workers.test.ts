import { isTaken } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Browser } from './wire/browser.ts';
import { exchange } from './wire/exchange.ts';
import { callGrpc } from './wire/grpc.ts';
import { createAsker } from './wire/many.ts';
import { startMovedClock } from './wire/moved-clock.ts';
import { type Service, startService, WEB_CLIENT_SECRET } from './wire/platform.ts';
import type { Surroundings } from './wire/process.ts';
import { openSignIn, SESSION_COOKIE } from './wire/sign-in.ts';
import {
  allEnded,
  alone,
  childrenOf,
  isRunning,
  type LogLine,
  logOf,
  PATIENCE,
  workersOf,
} from './wire/workers.ts';

const HEALTH_CHECK = '/grpc.health.v1.Health/Check';
const WORKERS = 3;
const SESSIONS = 5;
/** Requests of the test that kills a worker, at once. */
const CLIENTS = 8;
/** A worker has 27 s from when it was asked to end. */
const BEFORE_KILLED_MS = 26_000;
const TO_KILLED_MS = 2_000;

const pidsOf = (service: Service) => [...workersOf(service.running).values()];
const cookieOf = (browser: Browser) =>
  `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
const me = async (service: Service, cookie: string) =>
  (await exchange(`${service.url}/me`, { headers: { cookie } })).status;

/** Signs a person in; returns the `Cookie` header. */
async function signIn(service: Service): Promise<string> {
  const { browser, query } = await openSignIn(service, '/');
  const landed = await browser.step(`${service.url}/callback?${query.toString()}`);
  expect(landed.status).toBe(302);
  return cookieOf(browser);
}

/** What every worker answers when it is the only one that can. */
async function askEach<T>(service: Service, ask: () => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  const pids = pidsOf(service);
  for (const pid of pids) answers.push(await alone(pids, pid, ask));
  return answers;
}

/** The same for every worker. */
const each = <T>(value: T): T[] => Array.from({ length: WORKERS }, () => value);

describe('Workers of serve', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ SALLYPORT_WORKERS: String(WORKERS) });
  });
  afterAll(() => service.stop());

  it('are ready together, with one ready line, in processes of their own', () => {
    const pids = pidsOf(service);
    expect(new Set(workersOf(service.running).keys())).toEqual(new Set([1, 2, 3]));
    expect(new Set([...pids, service.running.pid]).size).toBe(WORKERS + 1);
    expect(new Set(childrenOf(service.running.pid))).toEqual(new Set(pids));
    expect(service.running.stdout()).toBe(`ready ${service.running.url}\n`);
  });

  it('answer over HTTP/1.1, each of them, on a connection that stays open too', async () => {
    expect(
      await askEach(service, async () => (await exchange(`${service.url}/healthz`)).status),
    ).toEqual(each(200));
    expect(
      await askEach(service, async () => (await exchange(`${service.url}/me`)).status),
    ).toEqual(each(401));
    const kept = await askEach(service, async () => {
      const asker = createAsker(service.url, 1);
      const statuses = await asker.ask('/healthz', [{}, {}, {}]);
      asker.close();
      return statuses;
    });
    expect(kept).toEqual(each([200, 200, 200]));
  });

  it('answer over HTTP/2 without TLS, each of them', async () => {
    const check = async (path: string) => (await callGrpc(service.url + path)).status;
    expect(await askEach(service, () => check(HEALTH_CHECK))).toEqual(each(0));
    expect(await askEach(service, () => check('/no.such.Service/Method'))).toEqual(each(16));
  });

  it('all know a session that was begun in one of them, and none a forged one', async () => {
    const pids = pidsOf(service);
    for (const pid of pids) {
      const cookie = await alone(pids, pid, () => signIn(service));
      expect(await askEach(service, () => me(service, cookie))).toEqual(each(200));
      const forged = cookie.replace(/\.(.)/, (_, first: string) => `.${first === 'A' ? 'B' : 'A'}`);
      expect(await askEach(service, () => me(service, forged))).toEqual(each(401));
    }
  });

  it('finish a sign-in that another of them began', async () => {
    const [first = 0, second = 0] = pidsOf(service);
    const pids = pidsOf(service);
    const opened = await alone(pids, first, () => openSignIn(service, '/wanted'));
    const callback = `${service.url}/callback?${opened.query.toString()}`;
    const landed = await alone(pids, second, () => opened.browser.step(callback));
    expect([landed.status, landed.location]).toEqual([302, `${service.url}/wanted`]);
    const again = await alone(pids, first, () => new Browser().step(callback));
    expect(again.setCookies.filter((line) => line.startsWith(`${SESSION_COOKIE}=`))).toEqual([]);
  });

  it('answer many requests of one session on new connections, all of them with 200', async () => {
    const cookie = await signIn(service);
    const statuses = await Promise.all(Array.from({ length: 200 }, () => me(service, cookie)));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('all refuse, within a second, a session that was signed out in one of them', async () => {
    const browsers = Array.from({ length: SESSIONS }, () => new Browser());
    for (const browser of browsers) await service.signIn(browser);
    const cookies = browsers.map(cookieOf);
    const [kept = '', ...gone] = cookies;
    // Every worker remembers every session.
    for (const cookie of cookies)
      expect(await askEach(service, () => me(service, cookie))).toEqual(each(200));
    const [first = 0] = pidsOf(service);
    await alone(pidsOf(service), first, () =>
      Promise.all(
        browsers.slice(1).map((browser) =>
          browser.step(`${service.url}/logout`, {
            form: {},
            headers: { origin: service.url, 'sec-fetch-site': 'same-origin' },
          }),
        ),
      ),
    );
    const until = performance.now() + 1_000;
    const ask = async () => {
      let statuses: number[];
      do statuses = await Promise.all(gone.map((cookie) => me(service, cookie)));
      while (statuses.includes(200) && performance.now() < until);
      return statuses;
    };
    expect(await askEach(service, ask)).toEqual(each(gone.map(() => 401)));
    expect(await askEach(service, () => me(service, kept))).toEqual(each(200));
  });

  it('have their number in each of their log lines', () => {
    const lines = logOf(service.running);
    // The configuration is the affair of the process that starts them.
    const theirs = lines.filter(
      ({ level, event }) => level === 'audit' && event !== 'configuration_loaded',
    );
    const numbers = theirs.map(({ worker }) => worker);
    expect(numbers.length).toBeGreaterThan(SESSIONS);
    for (const number of numbers) expect([1, 2, 3]).toContain(number);
    expect(service.running.stderr()).not.toContain(WEB_CLIENT_SECRET);
  });
});

/** Two workers on a port that the system chose, so that it cannot be known from the configuration. */
interface TwoWorkers extends Service {
  readonly publicUrl: string;
}

async function startTwoWorkers(surroundings: Surroundings = {}): Promise<TwoWorkers> {
  const service = await startService({ SALLYPORT_WORKERS: '2' }, ['--port', '0'], surroundings);
  const url = service.running.url.replace('127.0.0.1', 'localhost');
  return { ...service, publicUrl: service.url, url };
}

/** One service serves test after test, until one of them ends it. */
let shared: TwoWorkers | undefined;
afterAll(() => shared?.stop());

async function twoWorkers(): Promise<TwoWorkers> {
  shared ??= await startTwoWorkers();
  return shared;
}

async function lastUseOfTwoWorkers(): Promise<TwoWorkers> {
  const service = await twoWorkers();
  shared = undefined;
  onTestFinished(() => service.stop());
  return service;
}

/** Lines of an event that come from now on. */
function fromNow({ running }: Service, wanted: string): () => readonly LogLine[] {
  const all = () => logOf(running).filter(({ event }) => event === wanted);
  const before = all().length;
  return () => all().slice(before);
}

describe('Two workers', () => {
  it('are no more processes than that', async () => {
    const { running } = await twoWorkers();
    expect(childrenOf(running.pid)).toHaveLength(2);
    expect(running.stderr()).toContain('"worker":');
  });
});

describe('A worker that ends', () => {
  it('under requests is replaced and reported in the log, and the others go on answering', async () => {
    const service = await twoWorkers();
    const cookie = await signIn(service);
    const before = workersOf(service.running);
    const victim = before.get(1) ?? 0;
    const other = before.get(2) ?? 0;
    const statuses: number[] = [];
    const failures: string[] = [];
    let isOver = false;
    const client = async () => {
      while (!isOver)
        await me(service, cookie).then(
          (status) => statuses.push(status),
          // A request to the killed worker loses its connection; no request stays open without an answer.
          (error: NodeJS.ErrnoException) => failures.push(error.code ?? error.message),
        );
    };
    const clients = Array.from({ length: CLIENTS }, client);
    await expect.poll(() => statuses.length, PATIENCE).toBeGreaterThan(CLIENTS * 4);
    process.kill(victim, 'SIGKILL');
    const seen = statuses.length;
    await expect.poll(() => statuses.length, PATIENCE).toBeGreaterThan(seen + CLIENTS * 4);
    await expect.poll(() => workersOf(service.running).get(1) ?? victim, PATIENCE).not.toBe(victim);
    isOver = true;
    await Promise.all(clients);

    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(failures.length).toBeLessThanOrEqual(CLIENTS);
    for (const failure of failures) expect(['ECONNRESET', 'EPIPE']).toContain(failure);
    expect(workersOf(service.running).get(2)).toBe(other);
    expect(isRunning(victim)).toBe(false);
    expect(logOf(service.running)).toContainEqual(
      expect.objectContaining({ event: 'worker_ended', worker: 1, pid: victim, signal: 'SIGKILL' }),
    );
    const pids = pidsOf(service);
    for (const pid of pids) expect(await alone(pids, pid, () => me(service, cookie))).toBe(200);
    expect(service.running.stdout()).toBe(`ready ${service.running.url}\n`);
  });

  it('with all the others is replaced, on the same port, and sessions are kept', async () => {
    const service = await twoWorkers();
    const cookie = await signIn(service);
    const before = pidsOf(service);
    for (const pid of before) expect(await alone(before, pid, () => me(service, cookie))).toBe(200);
    for (const pid of before) process.kill(pid, 'SIGKILL');
    await expect
      .poll(() => pidsOf(service).filter((pid) => !before.includes(pid)).length, PATIENCE)
      .toBe(2);
    const after = pidsOf(service);
    for (const pid of after) {
      expect(await alone(after, pid, () => me(service, cookie))).toBe(200);
      expect(await alone(after, pid, () => me(service, ''))).toBe(401);
    }
  });
});

describe('Stopping serve with workers', () => {
  /** A callback that waits for the IdP, and how to let the IdP answer. */
  const callbackUnderWay = async (service: Service) => {
    const gate = Promise.withResolvers<void>();
    const { browser, query } = await openSignIn(service, '/wanted', undefined, {
      forge: async (forgery) => {
        await gate.promise;
        return service.idp.honest(forgery);
      },
    });
    const asked = service.idp.nextRequest('/token');
    const landed = browser.step(`${service.url}/callback?${query.toString()}`);
    await asked;
    return { landed, answer: () => gate.resolve() };
  };
  const isStopping = (service: Service) =>
    expect
      .poll(() => logOf(service.running).filter(({ event }) => event === 'stopping'), PATIENCE)
      .toEqual([expect.objectContaining({ signal: 'SIGTERM' })]);

  it.each([
    ['to the one process that was started', false],
    ['to every process, as systemd and a terminal send it', true],
  ])(
    'SIGTERM %s finishes what is under way, takes nothing new, and leaves no process',
    async (_, toAll) => {
      const service = await lastUseOfTwoWorkers();
      const unexpected = fromNow(service, 'worker_ended');
      const pids = pidsOf(service);
      const { landed, answer } = await callbackUnderWay(service);
      if (toAll) for (const pid of pids) process.kill(pid, 'SIGTERM');
      const code = service.running.stop();
      await isStopping(service);
      const { port } = new URL(service.url);
      await expect.poll(() => isTaken(Number(port)), PATIENCE).toBe(false);
      answer();
      expect((await landed).location).toBe(`${service.publicUrl}/wanted`);
      expect(await code).toBe(0);
      expect(pids.filter(isRunning)).toEqual([]);
      expect(unexpected()).toEqual([]);
    },
  );

  it('a SIGTERM to a worker alone changes nothing', async () => {
    const service = await twoWorkers();
    const pids = pidsOf(service);
    for (const pid of pids) process.kill(pid, 'SIGTERM');
    for (const pid of pids)
      expect(
        await alone(pids, pid, async () => (await exchange(`${service.url}/healthz`)).status),
      ).toBe(200);
    expect(pidsOf(service)).toEqual(pids);
  });

  it('a worker that does not end in time is killed and reported in the log, and the exit code is 0', async () => {
    const clock = await startMovedClock({ movesTimers: true });
    const service = await startTwoWorkers({ clock });
    onTestFinished(async () => {
      await service.stop();
      await clock.close();
    });
    const pids = pidsOf(service);
    const stuck = workersOf(service.running).get(1) ?? 0;
    process.kill(stuck, 'SIGSTOP');
    const code = service.running.stop();
    await isStopping(service);
    await allEnded(pids.filter((pid) => pid !== stuck));
    // Time for requests and for renewals under way: it is not killed in the midst of them.
    await clock.advance(BEFORE_KILLED_MS, [stuck]);
    expect(isRunning(stuck)).toBe(true);
    await clock.advance(TO_KILLED_MS, [stuck]);
    expect(await code).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    const killed = logOf(service.running).filter(({ event }) => event === 'worker_killed');
    expect(killed).toEqual([expect.objectContaining({ worker: 1, pid: stuck })]);
  });

  it('killing the process that was started ends the workers too', async () => {
    const service = await lastUseOfTwoWorkers();
    const pids = pidsOf(service);
    expect(pids.filter(isRunning)).toEqual(pids);
    await service.running.kill();
    await allEnded(pids);
    await expect.poll(() => isTaken(Number(new URL(service.url).port)), PATIENCE).toBe(false);
  });
});
