import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startAttackerIdp } from './wire/attacker-idp.ts';
import { Browser } from './wire/browser.ts';
import { exchange } from './wire/exchange.ts';
import { callGrpc } from './wire/grpc.ts';
import { createAsker } from './wire/many.ts';
import { startMovedClock } from './wire/moved-clock.ts';
import { type Service, startService, WEB_CLIENT_ID, WEB_CLIENT_SECRET } from './wire/platform.ts';
import { freePort, isTaken } from './wire/ports.ts';
import { run, type Surroundings, start, temporaryFolder } from './wire/process.ts';
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
/** More are not started. */
const PROCESSORS = Math.min(availableParallelism(), 64);

const pidsOf = (service: Service) => [...workersOf(service.running).values()];
const cookieOf = (browser: Browser) =>
  `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
const me = async (service: Service, cookie: string) =>
  (await exchange(`${service.url}/me`, { headers: { cookie } })).status;

/** Signs somebody in; returns the `Cookie` header. */
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

/** Runs JavaScript in every process of the command before anything else. */
const preload = (source: string) => ({
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(source)}`,
});

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

  it('are told apart in the log: what one says carries its number', () => {
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
  it('under requests is replaced and told in the log, and the others go on answering', async () => {
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
          // Whom the killed one was answering loses the connection; nobody is left without an answer.
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

  it('a worker that does not end in time is killed and told in the log, and the exit code is 0', async () => {
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
    const told = logOf(service.running).filter(({ event }) => event === 'worker_killed');
    expect(told).toEqual([expect.objectContaining({ worker: 1, pid: stuck })]);
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

describe('Starting serve with workers', () => {
  const folder = temporaryFolder();
  const secretFile = join(folder.path, 'oidc_client_secret');
  writeFileSync(secretFile, WEB_CLIENT_SECRET, { mode: 0o600 });
  afterAll(() => folder.remove());

  const ENVIRONMENT = {
    PUBLIC_URL: 'http://localhost:1',
    OIDC_BASE_URL: 'http://127.0.0.1:9',
    OIDC_CLIENT_ID: WEB_CLIENT_ID,
    CLI_CLIENT_ID: 'cli-client',
    OIDC_CLIENT_SECRET_FILE: secretFile,
    SALLYPORT_STATE_DIRECTORY: join(folder.path, 'state'),
    SALLYPORT_LOG_LEVEL: 'error',
    SALLYPORT_WORKERS: '2',
  };

  it('is not ready before the last of them listens', async () => {
    const stopped = join(folder.path, 'stopped');
    const port = await freePort();
    let isReady = false;
    // The first worker to come by stops itself before anything else, until it is told to go on.
    const starting = start(['serve', '--port', String(port)], {
      ...ENVIRONMENT,
      ...preload(
        `import fs from 'node:fs'; if (process.connected) try { fs.writeFileSync('${stopped}', String(process.pid), { flag: 'wx' }); process.kill(process.pid, 'SIGSTOP') } catch {}`,
      ),
    });
    const noteReady = () => {
      isReady = true;
    };
    void starting.then(noteReady);
    const ask = () =>
      exchange(`http://127.0.0.1:${port}/healthz`).then(
        ({ status }) => status,
        () => 0,
      );
    await expect
      .poll(() => existsSync(stopped) && readFileSync(stopped, 'utf8'), PATIENCE)
      .toMatch(/^\d+$/);
    await expect.poll(ask, PATIENCE).toBe(200);
    for (let count = 0; count < 50; count += 1) expect(await ask()).toBe(200);
    expect(isReady).toBe(false);
    process.kill(Number(readFileSync(stopped, 'utf8')), 'SIGCONT');
    const running = await starting;
    expect(await running.stop()).toBe(0);
  });

  it('waits for workers that are kept busy before they hear what they are to do', async () => {
    const running = await start(['serve', '--port', '0'], {
      ...ENVIRONMENT,
      ...preload(
        'if (process.connected) for (let turn = 0; turn < 1_000; turn += 1) await new Promise(setImmediate)',
      ),
    });
    expect((await exchange(`${running.url}/healthz`)).status).toBe(200);
    expect(await running.stop()).toBe(0);
  });

  it('on a port that is taken says so once and leaves no process', async () => {
    const idp = await startAttackerIdp(WEB_CLIENT_ID);
    onTestFinished(() => idp.close());
    const { port } = new URL(idp.issuer);
    const ended = await run(['serve', '--port', port], ENVIRONMENT);
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expect(ended.stderr.split('\n').filter((line) => !line.startsWith('{') && line !== '')).toEqual(
      [expect.stringMatching(/SP_PORT_IN_USE .*port \d+ is taken/)],
    );
  });

  it('with a bad configuration says so once, before any of them starts', async () => {
    const config = join(folder.path, 'bad.yaml');
    writeFileSync(config, 'server:\n  workers: 3\n  security:\n    useAuth: perhaps\n');
    const started = join(folder.path, 'started');
    const ended = await run(['serve', '--port', '0', '--config', config], {
      ...ENVIRONMENT,
      ...preload(
        `import fs from 'node:fs'; if (process.connected) fs.writeFileSync('${started}', '')`,
      ),
    });
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expect(ended.stderr).toBe(
      `${config}:4: server.security.useAuth: found "perhaps", expected true or false\n1 problem; nothing was started.\n`,
    );
    expect(existsSync(started)).toBe(false);
  });

  it('without a secret says so once', async () => {
    const OIDC_CLIENT_SECRET_FILE = join(folder.path, 'nowhere');
    const ended = await run(['serve', '--port', '0'], { ...ENVIRONMENT, OIDC_CLIENT_SECRET_FILE });
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expect(ended.stderr.match(/nowhere: .*oidc_client_secret/g)).toHaveLength(1);
    expect(ended.stderr.match(/nothing was started/g)).toHaveLength(1);
  });

  it.each([
    ['ends', 'if (process.connected) process.exit(7)', 7],
    [
      'cannot load what it runs',
      "import { registerHooks } from 'node:module'; if (process.connected) registerHooks({ resolve(name, context, next) { if (/serve.worker/.test(name)) throw new Error(name); return next(name, context) } })",
      1,
    ],
  ])(
    'ends with exit code 1 and one line when one of them %s three times within ten seconds before it listens',
    async (_, source, code) => {
      const ended = await run(['serve', '--port', '0'], { ...ENVIRONMENT, ...preload(source) });
      expect([ended.code, ended.stdout]).toEqual([1, '']);
      expect(
        ended.stderr.match(/SP_WORKER_FAILED \(worker:[12]\): it ended 3 times/g),
      ).toHaveLength(1);
      const log = logOf({ stderr: () => ended.stderr });
      const ends = log.filter(({ event }) => event === 'worker_ended');
      expect(ends.length).toBeGreaterThanOrEqual(3);
      for (const line of ends) expect(line).toMatchObject({ level: 'error', code });
    },
  );

  it.each(['0', '65', '1.5', 'AUTO'])('refuses %s of them', async (workers) => {
    const ended = await run(['serve', '--check'], { ...ENVIRONMENT, SALLYPORT_WORKERS: workers });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('server.workers');
    expect(ended.stderr).toContain('expected a whole number from 1 to 64, or auto');
  });

  it('is not done by --check', async () => {
    const started = join(folder.path, 'started-by-check');
    const ended = await run(['serve', '--check'], {
      ...ENVIRONMENT,
      ...preload(
        `import fs from 'node:fs'; if (process.connected) fs.writeFileSync('${started}', '')`,
      ),
    });
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(ended.stdout).toContain('server.workers  from env');
    expect(existsSync(started)).toBe(false);
  });

  it.each([
    ['one, or none configured', {}, 0],
    ['auto', { SALLYPORT_WORKERS: 'auto' }, PROCESSORS > 1 ? PROCESSORS : 0],
  ])('%s: has no more processes than that', async (_, workers, children) => {
    const { SALLYPORT_WORKERS: __, ...rest } = ENVIRONMENT;
    const running = await start(['serve', '--port', '0'], {
      ...rest,
      SALLYPORT_LOG_LEVEL: 'info',
      ...workers,
    });
    expect(childrenOf(running.pid)).toHaveLength(children);
    expect(running.stderr().includes('"worker":')).toBe(children > 0);
    expect(await running.stop()).toBe(0);
  });
});
