import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from './wire/browser.ts';
import { exchange } from './wire/exchange.ts';
import { createAsker } from './wire/many.ts';
import { type Service, startService } from './wire/platform.ts';
import { run, temporaryFolder } from './wire/process.ts';

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

describe('"sallyport rotate-keys" with a ring that it cannot rotate', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const rotate = async (name: string, text: string | undefined, ...args: readonly string[]) => {
    const state = join(folder.path, name);
    const file = join(state, 'key-ring.json');
    mkdirSync(state, { recursive: true });
    if (text !== undefined) writeFileSync(file, text, { mode: 0o600 });
    const ended = await run(['rotate-keys', '--state', state, ...args], {
      PUBLIC_URL: 'http://localhost:8080',
      OIDC_BASE_URL: 'http://localhost:8081',
      OIDC_CLIENT_ID: 'web-client',
      CLI_CLIENT_ID: 'cli-client',
    });
    return { ...ended, file, kept: existsSync(file) ? readFileSync(file, 'utf8') : undefined };
  };
  const keys = Array.from({ length: 64 }, (_, at) => ({
    kid: `AAAAAA${String(at).padStart(2, '0')}`,
    key: randomBytes(32).toString('base64url'),
    sealsFrom: '2020-01-01T00:00:00.000Z',
  }));

  it.each([
    ['is missing', undefined, 'the server makes it at the first sign-in'],
    ['is not JSON', 'secret-canary', 'is not JSON'],
    ['is no ring', '{"keys": "secret-canary"}', 'not a list of 1 to 64 keys'],
    ['is too large', 'x'.repeat(65_537), 'too large'],
    ['is full', JSON.stringify({ keys }), 'holds 64 keys already'],
  ])(
    'says in one sentence that it %s, with code 1, and changes nothing',
    async (name, text, words) => {
      const { code, stdout, stderr, file, kept } = await rotate(name, text);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^sallyport: [^\n]+ \(SP_KEY_RING_UNUSABLE\)\n$/);
      expect(stderr).toContain(words);
      expect(stderr).toContain(file);
      expect(stderr).not.toContain('secret-canary');
      expect(kept).toBe(text);
    },
  );

  it('names --state where that is no path', async () => {
    const { code, stderr } = await rotate('flag', undefined, '--state', 'folder');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'flag: --state: found a string of 6 characters, expected a path that begins',
    );
  });

  it('--json prints the failure as one document', async () => {
    const { code, stdout } = await rotate('json', undefined, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: 'SP_KEY_RING_UNUSABLE' });
  });
});
