import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Browser } from './browser.ts';
import { type MovedClock, startMovedClock } from './moved-clock.ts';
import { type Service, startPlane, startService } from './platform.ts';
import { temporaryFolder } from './process.ts';
import { askMe } from './sign-in.ts';

const MINUTE = 60_000;
const IDLE = ['session:', '  idleTimeout: 10m', '  absoluteLifetime: 1h'];

describe('A moved clock', () => {
  let clock: MovedClock;
  let service: Service;
  beforeAll(async () => {
    clock = await startMovedClock();
    service = await startService({}, [], { clock }, undefined, IDLE);
  });
  afterAll(async () => {
    await service.stop();
    await clock.close();
  });

  it('ends the idle sessions of a server that follows it, at once, and not before their time', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    expect(await askMe(service, browser)).toBe(200);
    await clock.advance(MINUTE);
    expect(await askMe(service, browser)).toBe(200);
    await clock.advance(11 * MINUTE);
    expect(await askMe(service, browser)).toBe(401);
  });

  it('holds for a server that is started again', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    await service.running.kill();
    await clock.advance(11 * MINUTE);
    const again = await service.restart();
    onTestFinished(async () => void (await again.running.stop()));
    expect(clock.pids()).toEqual([again.running.pid]);
    expect(await askMe(again, browser)).toBe(401);
    await again.running.stop();
    expect(clock.pids()).toEqual([]);
  });

  it('leaves a server that does not follow it alone', async () => {
    const free = await startService({}, [], {}, undefined, IDLE);
    onTestFinished(() => free.stop());
    const browser = new Browser();
    await free.signIn(browser);
    await clock.advance(60 * MINUTE);
    expect(clock.pids()).not.toContain(free.running.pid);
    expect(await askMe(free, browser)).toBe(200);
  });

  it('moves the whole plane of "sallyport up" together, so that its own IdP is believed', async () => {
    const plane = await startPlane([], { clock });
    onTestFinished(() => plane.stop());
    await clock.advance(3 * 24 * 60 * MINUTE);
    expect((await plane.signIn(new Browser(), '/')).status).toBe(200);
  });
});

/** Says its time whenever it is asked, in every way `Date` has; ends with its stdin. */
const SAY = `process.stdin.on('data', () => console.log(JSON.stringify([
  Date.now(), new Date().getTime(), Date.parse(Date()), new Date(5).getTime(), Date.UTC(1970, 0, 1, 0, 0, 0, 7),
  new Date() instanceof Date, new Date().constructor === Date, performance.now()])))`;
/** Says what is due in one, two and three minutes when its time has come. */
const SLEEPERS = `import { setTimeout as sleep } from 'node:timers/promises';
const say = (...words) => console.log(JSON.stringify(words));
const offSwitch = new AbortController();
sleep(60_000, 0, { signal: offSwitch.signal }).then(() => say('not called off'), ({ name }) => say('called off', name));
sleep(60_000, 1).then((value) => say('promise', value));
setTimeout(() => say('callback'), 2 * 60_000);
setTimeout(() => say('later'), 3 * 60_000);
say('waiting');
offSwitch.abort();`;
/** Two workers say their time when asked; a first line names all three processes. */
const CLUSTER = `import cluster from 'node:cluster';
if (cluster.isPrimary) {
  const workers = [cluster.fork(), cluster.fork()];
  console.log(JSON.stringify([process.pid, ...workers.map((worker) => worker.process.pid)]));
  process.stdin.on('data', () => workers.forEach((worker) => worker.send('?')));
} else process.on('message', () => console.log(Date.now()));`;

describe('A process that follows a moved clock', () => {
  let clock: MovedClock;
  const children: ChildProcess[] = [];
  const folder = temporaryFolder();
  const run = (script: string, follows: MovedClock = clock) => {
    const file = join(folder.path, 'script.mjs');
    writeFileSync(file, script);
    const child = spawn(process.execPath, [file], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...follows.environment },
    });
    children.push(child);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const nextLine = async () => JSON.parse((await lines.next()).value ?? '') as unknown;
    return { child, nextLine };
  };
  beforeAll(async () => {
    clock = await startMovedClock();
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await clock.close();
    folder.remove();
  });

  it('takes the moved time for the present, and no other date or timer', async () => {
    const { child, nextLine } = run(SAY);
    const ask = async () => {
      child.stdin.write('?');
      return (await nextLine()) as number[];
    };
    const before = await ask();
    await clock.advance(1_000 * MINUTE);
    const after = await ask();
    // Real time goes on meanwhile, and Date() has no milliseconds.
    for (const way of [0, 1, 2]) {
      const moved = (after[way] ?? 0) - (before[way] ?? 0) - 1_000 * MINUTE;
      expect(moved).toBeGreaterThanOrEqual(way === 2 ? -1_000 : 0);
      expect(moved).toBeLessThan(MINUTE);
    }
    expect(after.slice(3, 7)).toEqual([5, 7, true, true]);
    expect((after[7] ?? 0) - (before[7] ?? 0)).toBeLessThan(MINUTE);
    await clock.advance(-1_000 * MINUTE);
    expect((await ask())[0]).toBeLessThan((after[0] ?? 0) - 999 * MINUTE);
  });

  it('is not kept alive by it', async () => {
    const { child } = run('');
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  });

  it('brings the processes it forks along', async () => {
    const { child, nextLine } = run(CLUSTER);
    const pids = (await nextLine()) as number[];
    expect(pids).toHaveLength(3);
    await expect
      .poll(() => clock.pids(), { timeout: 20_000 })
      .toEqual(expect.arrayContaining(pids));
    await clock.advance(500 * MINUTE);
    child.stdin.write('?');
    for (const each of [await nextLine(), await nextLine()]) {
      expect(each).toBeGreaterThan(Date.now() + 499 * MINUTE);
      expect(each).toBeLessThanOrEqual(clock.now());
    }
    child.kill();
    await expect
      .poll(() => clock.pids().filter((pid) => pids.includes(pid)), { timeout: 20_000 })
      .toEqual([]);
  });

  it('that moves timers, too, does what is due by it at once, and nothing that is not or was called off', async () => {
    const moving = await startMovedClock({ movesTimers: true });
    onTestFinished(() => moving.close());
    const { nextLine } = run(SLEEPERS, moving);
    expect(await nextLine()).toEqual(['waiting']);
    expect(await nextLine()).toEqual(['called off', 'AbortError']);
    for (const due of [['promise', 1], ['callback'], ['later']]) {
      await moving.advance(MINUTE);
      expect(await nextLine()).toEqual(due);
    }
  });

  it('does not begin without it', async () => {
    const gone = await startMovedClock();
    await gone.close();
    const child = spawn(process.execPath, ['-e', ''], {
      stdio: 'ignore',
      env: { ...gone.environment },
    });
    expect(await new Promise((resolve) => child.once('exit', resolve))).not.toBe(0);
  });
});
