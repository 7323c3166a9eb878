import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from './wire/browser.ts';
import { exchange } from './wire/exchange.ts';
import { createAsker } from './wire/many.ts';
import { type Service, startService } from './wire/platform.ts';
import { run } from './wire/process.ts';

const SESSIONS = 100;

interface Ring {
  keys: { kid: string; key: string; sealsFrom: string; opensUntil?: string }[];
}

describe('The key ring of a running server', () => {
  let service: Service;
  let cookies: { cookie: string }[];
  const file = () => join(service.state, 'key-ring.json');
  const ring = () => JSON.parse(readFileSync(file(), 'utf8')) as Ring;

  beforeAll(async () => {
    service = await startService();
    cookies = await Promise.all(
      Array.from({ length: SESSIONS }, async () => {
        const browser = new Browser();
        await service.signIn(browser);
        return { cookie: `core_session=${browser.cookie('localhost', 'core_session')}` };
      }),
    );
  });
  afterAll(() => service.stop());

  const statuses = async () => {
    const asker = createAsker(service.url, 8);
    const answers = await asker.ask('/me', cookies);
    asker.close();
    return [...new Set(answers)];
  };

  it('is a file that only its owner can read', () => {
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(join(service.state, 'sessions.sqlite')).mode & 0o777).toBe(0o600);
  });

  it(`is rotated by "sallyport rotate-keys" with ${SESSIONS} sessions active, and all of them go on`, async () => {
    expect(await statuses()).toEqual([200]);
    const [before] = ring().keys;
    const environment = {
      PUBLIC_URL: service.url,
      OIDC_BASE_URL: service.idp.issuer,
      OIDC_CLIENT_ID: 'web-client',
      CLI_CLIENT_ID: 'cli-client',
      SALLYPORT_STATE_DIRECTORY: service.state,
    };
    const { code, stdout } = await run(['rotate-keys', '--json'], environment);
    expect(code).toBe(0);
    const { kid } = JSON.parse(stdout) as { kid: string };
    const after = ring().keys;
    expect(after.map((key) => key.kid)).toEqual([before?.kid, kid]);
    expect(Date.parse(after[1]?.sealsFrom ?? '')).toBeGreaterThan(Date.now() + 590_000);
    expect(after[0]?.opensUntil).toBeDefined();
    expect(stdout).not.toContain(after[1]?.key);

    expect(await statuses()).toEqual([200]);
    service = await restart();
    expect(await statuses()).toEqual([200]);
  });

  it('refuses every session once the key that sealed it is taken out of the file', async () => {
    const [, added] = ring().keys;
    // It seals at once here, so that the server stays able to begin new sessions.
    const left = { keys: [{ ...added, sealsFrom: new Date(Date.now() - 1_000).toISOString() }] };
    writeFileSync(file(), JSON.stringify(left));
    const ofFirst = async () =>
      (await exchange(`${service.url}/me`, { headers: cookies[0] ?? {} })).status;
    await expect.poll(ofFirst, { timeout: 10_000, interval: 100 }).toBe(401);
    expect(await statuses()).toEqual([401]);

    const browser = new Browser();
    expect((await service.signIn(browser)).status).toBe(302);
    expect((await browser.step(`${service.url}/me`)).status).toBe(200);
  });

  async function restart(): Promise<Service> {
    await service.running.stop();
    return service.restart();
  }
});
