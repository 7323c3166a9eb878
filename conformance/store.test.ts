import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Browser } from './wire/browser.ts';
import { exchange } from './wire/exchange.ts';
import { type Service, startService, WEB_CLIENT_SECRET } from './wire/platform.ts';
import { isRunning } from './wire/workers.ts';

const SIGN_INS = 200;
const KILLS = 6;
const AT_ONCE = 8;

const me = (url: string, value: string | undefined) =>
  exchange(`${url}/me`, { headers: { cookie: `core_session=${value}` } });

describe('The session store', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  // A test that fails may leave the service ended.
  beforeEach(async () => {
    if (!isRunning(service.running.pid)) service = await service.restart();
  });
  afterAll(() => service.stop());

  it('keeps a session over a restart', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    const value = browser.cookie('localhost', 'core_session');
    await service.running.stop();
    service = await service.restart();
    expect((await me(service.url, value)).status).toBe(200);
    expect((await me(service.url, value?.replace(/^.../, 'AAA'))).status).toBe(401);
  });

  it('holds no token, secret or name that can be read', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    const store = new DatabaseSync(join(service.state, 'sessions.sqlite'), { readOnly: true });
    const bytes = JSON.stringify(
      store.prepare('SELECT * FROM session').all(),
      (_, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
    store.close();
    expect(bytes.length).toBeGreaterThan(500);
    for (const secret of [
      'access-token-of-ada',
      'refresh-token-of-ada',
      'Lovelace',
      'ada@example',
      WEB_CLIENT_SECRET,
    ]) {
      expect(bytes).not.toContain(secret);
    }
  });

  it(`loses no acknowledged session and leaves no half record when the server is killed at random moments of ${SIGN_INS} sign-ins`, async () => {
    const acknowledged: string[] = [];
    let begun = 0;
    let kills = 0;
    while (begun < SIGN_INS) {
      const current: Service = service;
      const killAfter = Math.ceil(Math.random() * ((2 * SIGN_INS) / (KILLS + 1)));
      let seen = 0;
      let killed: Promise<void> | undefined;
      const worker = async () => {
        while (begun < SIGN_INS && killed === undefined) {
          begun += 1;
          const browser = new Browser();
          // A killed server answers nothing: that sign-in was not acknowledged.
          await current.signIn(browser).catch(() => undefined);
          const value = browser.cookie('localhost', 'core_session');
          if (value !== undefined) acknowledged.push(value);
          seen += 1;
          if (seen >= killAfter && kills < KILLS) killed ??= current.running.kill();
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      if (killed === undefined) continue;
      await killed;
      kills += 1;
      service = await current.restart();
    }
    expect(kills).toBeGreaterThan(2);
    expect(acknowledged.length).toBeGreaterThan(SIGN_INS / 2);
    for (const value of acknowledged) expect((await me(service.url, value)).status).toBe(200);

    const store = new DatabaseSync(join(service.state, 'sessions.sqlite'), { readOnly: true });
    expect(store.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    const rows = store
      .prepare(
        'SELECT count(*) AS all_rows, sum(length(metadata) > 35 AND length(tokens) > 35) AS whole FROM session',
      )
      .get();
    store.close();
    expect(rows?.['whole']).toBe(rows?.['all_rows']);
    expect(Number(rows?.['all_rows'])).toBeGreaterThanOrEqual(acknowledged.length);
  });

  it('decides nothing while its file cannot be opened, and recovers without a restart', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    const value = browser.cookie('localhost', 'core_session');
    const { state } = service;
    await service.running.stop();
    const store = join(state, 'sessions.sqlite');
    for (const side of ['-wal', '-shm']) rmSync(store + side, { force: true });
    renameSync(store, `${store}.away`);
    mkdirSync(store);
    service = await service.restart();

    const refused = await me(service.url, value);
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBeDefined();
    expect((await exchange(`${service.url}/me`)).status).toBe(401);
    const login = await new Browser().step(`${service.url}/login`);
    const noSession = await new Browser().step(
      `${service.url}/callback?${service.idp.authorize(login.location ?? '')}`,
    );
    expect(noSession.setCookies.filter((line) => line.startsWith('core_session='))).toEqual([]);
    const person = new Browser();
    const failed = await service.signIn(person);
    expect(failed.status).toBe(503);
    expect(failed.body).toContain('Sessions cannot be read at the moment');
    expect(person.cookie('localhost', 'core_session')).toBeUndefined();

    rmdirSync(store);
    renameSync(`${store}.away`, store);
    const recovered = new Browser();
    await expect
      .poll(async () => (await service.signIn(recovered)).status, { timeout: 10_000 })
      .toBe(302);
    expect((await me(service.url, recovered.cookie('localhost', 'core_session'))).status).toBe(200);
    // The session of before was never lost.
    expect((await me(service.url, value)).status).toBe(200);
  });

  it('decides nothing on a file that is not a store', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    const value = browser.cookie('localhost', 'core_session');
    await service.running.stop();
    for (const side of ['', '-wal', '-shm'])
      writeFileSync(
        join(service.state, `sessions.sqlite${side}`),
        'not a database at all'.repeat(300),
      );
    service = await service.restart();
    expect((await me(service.url, value)).status).toBe(503);
  });
});

describe('The session store on a disk that is full', () => {
  it('refuses new sessions when it is full, keeps deciding on the old ones, and admits no other', async () => {
    const service = await startService({}, [], { fileMaxKiB: 1024 });
    onTestFinished(() => service.stop());
    const first = new Browser();
    await service.signIn(first);
    const value = first.cookie('localhost', 'core_session');
    expect(value).toBeDefined();
    let refusal: number | undefined;
    for (let count = 0; count < 300 && refusal === undefined; count += 1) {
      const browser = new Browser();
      const { status } = await service.signIn(browser);
      if (status === 302) continue;
      refusal = status;
      expect(browser.cookie('localhost', 'core_session')).toBeUndefined();
    }
    expect(refusal).toBe(503);
    expect([200, 503]).toContain((await me(service.url, value)).status);
    // Another secret for the same session: never the same one by chance.
    const forged = value?.replace(/\.(.)/, (_, first: string) => `.${first === 'A' ? 'B' : 'A'}`);
    expect(forged).not.toBe(value);
    expect([401, 503]).toContain((await me(service.url, forged)).status);
  });
});
