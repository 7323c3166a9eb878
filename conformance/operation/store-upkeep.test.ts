/**
 * The thread that keeps the local store's file small: it runs in every way to serve, or the start fails.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { startPlane, startService } from '../wire/platform.ts';
import { type Running, start, temporaryFolder } from '../wire/process.ts';
import { logOf, PATIENCE } from '../wire/workers.ts';

const YEAR_MS = 365 * 86_400_000;

/** A runtime in which no thread runs. */
const NO_THREADS = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(
    "import { isMainThread } from 'node:worker_threads'; if (!isMainThread) throw Object.assign(new Error(), { code: 'ERR_NO_THREAD' });",
  )}`,
};

function sessionsIn(state: string): number {
  const db = new DatabaseSync(join(state, 'sessions.sqlite'), { readOnly: true });
  try {
    return Number(db.prepare('SELECT count(*) AS count FROM session').get()?.['count']);
  } finally {
    db.close();
  }
}

describe('Sessions whose time is over are removed', () => {
  let clock: MovedClock;
  beforeAll(async () => {
    clock = await startMovedClock({ movesTimers: true });
  });
  afterAll(() => clock.close());

  it('by up', async () => {
    const plane = await startPlane([], { clock });
    onTestFinished(() => plane.stop());
    await plane.signIn(new Browser(), '/');
    expect(sessionsIn(plane.state)).toBe(1);
    await clock.advance(YEAR_MS);
    await expect.poll(() => sessionsIn(plane.state), PATIENCE).toBe(0);
  });

  it.each(['1', '2'])('by serve with %s workers', async (workers) => {
    const service = await startService({ SALLYPORT_WORKERS: workers }, [], { clock });
    onTestFinished(() => service.stop());
    service.idp.now = clock.now;
    await service.signIn(new Browser());
    expect(sessionsIn(service.state)).toBe(1);
    await clock.advance(YEAR_MS);
    await expect.poll(() => sessionsIn(service.state), PATIENCE).toBe(0);
    expect(logOf(service.running).map(({ event }) => event)).not.toContain('sweep_failed');
  });
});

describe('Where no thread can run', () => {
  /** Starts the command. It is ended after the test, should it start. */
  async function startIn(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<Running> {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const secretFile = join(folder.path, 'secret');
    writeFileSync(secretFile, 'canary-web-client-secret', { mode: 0o600 });
    const running = await start([...args, '--port', '0', '--state', folder.path], {
      PUBLIC_URL: 'http://localhost:8080',
      OIDC_BASE_URL: 'http://127.0.0.1:9',
      OIDC_CLIENT_ID: 'web-client',
      OIDC_CLIENT_SECRET_FILE: secretFile,
      CLI_CLIENT_ID: 'cli-client',
      ...NO_THREADS,
      ...environment,
    });
    onTestFinished(async () => void (await running.stop()));
    return running;
  }

  it.each([
    ['up', ['up'], {}],
    ['serve', ['serve'], {}],
    ['serve with workers', ['serve'], { SALLYPORT_WORKERS: '2' }],
  ])('%s does not start, and says so by name', async (_, args, environment) => {
    const started = startIn(args, environment);
    await expect(started).rejects.toThrow(/ended with 1$/m);
    await expect(started).rejects.toThrow(/^sallyport: SP_THREAD_FAILED .*ERR_NO_THREAD/m);
    await expect(started).rejects.not.toThrow(/^ready /m);
  });

  it('what needs none is not in its way: serve without authentication starts', async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const file = join(folder.path, 'sallyport.yaml');
    writeFileSync(file, 'server: {security: {useAuth: false}}\n');
    const running = await startIn(['serve', '--config', file], {});
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200);
  });
});
