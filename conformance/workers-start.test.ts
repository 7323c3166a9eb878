import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createCommandHost } from './cli/command-host.ts';
import { exchange } from './wire/exchange.ts';
import { WEB_CLIENT_ID, WEB_CLIENT_SECRET } from './wire/platform.ts';
import { run, start, temporaryFolder } from './wire/process.ts';
import { childrenOf, logOf, PATIENCE } from './wire/workers.ts';

/** More are not started. */
const PROCESSORS = Math.min(availableParallelism(), 64);

/** Runs JavaScript in every process of the command before anything else. */
const preload = (source: string) => ({
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(source)}`,
});

describe('Starting serve with workers', () => {
  const folder = temporaryFolder();
  const secretFile = join(folder.path, 'oidc_client_secret');
  writeFileSync(secretFile, WEB_CLIENT_SECRET, { mode: 0o600 });
  const host = createCommandHost();
  afterAll(() => {
    host.stop();
    folder.remove();
  });

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
    // The first worker stops itself before anything else, until it gets SIGCONT.
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
    const running = await start(['serve', '--port', String(await freePort())], {
      ...ENVIRONMENT,
      ...preload(
        'if (process.connected) for (let turn = 0; turn < 1_000; turn += 1) await new Promise(setImmediate)',
      ),
    });
    expect((await exchange(`${running.url}/healthz`)).status).toBe(200);
    expect(await running.stop()).toBe(0);
  });

  it('on a port that is taken says so once and leaves no process', async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
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
      "import { registerHooks } from 'node:module'; if (process.connected) registerHooks({ resolve(name, context, next) { if (/(^|[/])worker[.][jt]s$/.test(name)) throw new Error(name); return next(name, context) } })",
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
    const environment = { ...ENVIRONMENT, SALLYPORT_WORKERS: workers };
    const ended = await host.run(['serve', '--check'], environment, folder.path);
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
    expect(ended.stdout).toMatch(/^ *server\.workers +from env$/m);
    expect(existsSync(started)).toBe(false);
  });

  it.each([
    ['one, or none configured', {}, 0],
    ['auto', { SALLYPORT_WORKERS: 'auto' }, PROCESSORS > 1 ? PROCESSORS : 0],
  ])('%s: has no more processes than that', async (_, workers, children) => {
    const { SALLYPORT_WORKERS: __, ...rest } = ENVIRONMENT;
    const running = await start(['serve', '--port', String(await freePort())], {
      ...rest,
      SALLYPORT_LOG_LEVEL: 'info',
      ...workers,
    });
    expect(childrenOf(running.pid)).toHaveLength(children);
    expect(running.stderr().includes('"worker":')).toBe(children > 0);
    expect(await running.stop()).toBe(0);
  });
});
