import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Browser, NAVIGATION } from './wire/browser.ts';
import { exchange, type Sent } from './wire/exchange.ts';
import { type Service, startHostedService } from './wire/platform.ts';
import { temporaryFolder } from './wire/process.ts';
import { beginsSession, SESSION_COOKIE } from './wire/sign-in.ts';

/** So few that the next turn is half a minute away: no test is that slow. */
const PER_MINUTE = 2;
const HELD_BACK = 429;

const folder = temporaryFolder();
const config = join(folder.path, 'config.yaml');
afterAll(() => folder.remove());

/** Starts the service with a configuration file beside the deployment variables. */
function startWith(yaml: string): Promise<Service> {
  writeFileSync(config, yaml);
  return startHostedService({}, ['--config', config]);
}

/** Statuses of the same request, one after the other. */
async function askRepeatedly(url: string, each: readonly Sent[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const sent of each) statuses.push((await exchange(url, sent)).status);
  return statuses;
}

const from = (address: string, cookie?: string): Sent => ({
  headers: {
    ...NAVIGATION,
    'x-forwarded-for': address,
    ...(cookie === undefined ? {} : { cookie }),
  },
});
const times = (count: number, sent: Sent) => Array.from({ length: count }, () => sent);

describe('useAuth true', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startWith('server: { security: { useAuth: true } }\n');
  });
  afterAll(() => service.stop());

  it.each([
    ['/me', 401],
    ['/login', 302],
    ['/callback', 400],
    ['/logout', 200],
    ['/auth/session', 200],
    ['/auth/account', 302],
    ['/auth/signed-in', 302],
    ['/auth/backchannel-logout', 405],
  ])('registers %s, which answers %i to a request without a credential', async (path, status) => {
    expect((await exchange(service.url + path, { headers: NAVIGATION })).status).toBe(status);
  });

  it.each([
    '/me',
    '/auth/session',
    '/healthz',
    '/readyz',
    '/auth/x',
    '/config/v1/flyte_client',
    '/',
  ])('says of the JSON of %s that it is nothing else', async (path) => {
    const { headers } = await exchange(service.url + path);
    expect(headers['content-type']).toMatch(/^application\/(?:problem\+)?json\b/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('says so of the JSON of a call, too', async () => {
    const path = '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig';
    const headers = { 'content-type': 'application/json', 'connect-protocol-version': '1' };
    const answer = await exchange(service.url + path, { method: 'POST', headers, body: '{}' });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  it('registers no other path', async () => {
    // The web app has no key to show at /auth/jwks.
    const none = ['/callback/x', '/auth', '/auth/x', '/auth/account/x', '/auth/jwks'];
    for (const path of none)
      expect((await exchange(service.url + path, { headers: NAVIGATION })).status).toBe(404);
    // Protected routes: whether a path exists is shown only to those who may enter.
    for (const path of ['/mex', '/logins', '/'])
      expect((await exchange(service.url + path, { headers: NAVIGATION })).status).toBe(401);
  });
});

describe('Requests that come too often, behind a trusted proxy', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startWith(
      `rateLimit: { perMinute: ${PER_MINUTE} }\ntrustedProxies: [127.0.0.1]\n`,
    );
  });
  afterAll(() => service.stop());

  it.each([
    ['/login', '192.0.2.1', '192.0.2.101'],
    ['/callback', '192.0.2.2', '192.0.2.102'],
    ['/logout', '192.0.2.3', '192.0.2.103'],
  ])('%s: 429 with Retry-After for one address, and no other', async (path, one, other) => {
    const statuses = await askRepeatedly(service.url + path, times(PER_MINUTE, from(one)));
    expect(statuses).not.toContain(HELD_BACK);
    const held = await exchange(service.url + path, from(one));
    expect(held.status).toBe(HELD_BACK);
    expect(Number(held.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(held.headers['retry-after'])).toBeLessThanOrEqual(60 / PER_MINUTE);
    expect([held.location, held.setCookies]).toEqual([undefined, []]);
    expect(await askRepeatedly(service.url + path, [from(other)])).not.toContain(HELD_BACK);
  });

  it('are counted by session too, from whatever address, and no other session is held back', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
    const asked = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];
    expect(
      await askRepeatedly(
        `${service.url}/login`,
        asked.map((address) => from(address, cookie)),
      ),
    ).toEqual([302, 302, HELD_BACK]);
    const another = `${SESSION_COOKIE}=AAAAAAAA.${'A'.repeat(43)}`;
    expect(
      await askRepeatedly(`${service.url}/login`, [from('198.51.100.4', another)]),
    ).not.toContain(HELD_BACK);
    expect(await askRepeatedly(`${service.url}/me`, [from('198.51.100.1', cookie)])).toEqual([200]);
  });

  describe('that pages make without a person', () => {
    const SITES = ['cross-site', 'same-site', 'same-origin'];
    const LOADS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      ['images', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
      ['scripts', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }],
      ['fetches', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
      ['prefetches', { 'sec-purpose': 'prefetch;prerender' }],
    ];
    const load = (address: string, site: string, headers: object): Sent => ({
      headers: { ...from(address).headers, 'sec-fetch-site': site, ...headers },
    });

    it.each(
      ['/login', '/callback?state=x&code=y', '/logout', '/auth/account', '/auth/signed-in'].map(
        (path, at) => [path, `192.0.2.${20 + at}`],
      ),
    )('take no turn at %s, and start nothing', async (path, address) => {
      for (const site of SITES) {
        for (const [what, headers] of LOADS) {
          for (let turn = 0; turn <= PER_MINUTE; turn += 1) {
            const received = await exchange(service.url + path, load(address, site, headers));
            expect([200, 401], what).toContain(received.status);
            expect([received.location, received.setCookies], what).toEqual([undefined, []]);
          }
        }
      }
      const person = times(PER_MINUTE, from(address));
      expect(await askRepeatedly(service.url + path, person)).not.toContain(HELD_BACK);
      expect(await askRepeatedly(service.url + path, [from(address)])).toEqual([HELD_BACK]);
    });

    it.each(
      ['iframe', 'frame', 'embed', 'object', 'fencedframe'].map((dest, at) => [
        dest,
        `192.0.2.${40 + at}`,
      ]),
    )('take no turn in another site’s %s, and start nothing', async (dest, address) => {
      for (const path of ['/login', '/callback?state=x&code=y', '/auth/account']) {
        for (let turn = 0; turn <= PER_MINUTE; turn += 1) {
          const sent = load(address, 'cross-site', { 'sec-fetch-dest': dest });
          const received = await exchange(service.url + path, sent);
          expect([received.status, received.setCookies]).toEqual([401, []]);
        }
      }
      const person = times(PER_MINUTE, from(address));
      expect(await askRepeatedly(`${service.url}/login`, person)).toEqual([302, 302]);
    });

    it('but a frame of our own page takes one, and so does what says nothing of itself', async () => {
      const frame = load('192.0.2.60', 'same-origin', { 'sec-fetch-dest': 'iframe' });
      expect(await askRepeatedly(`${service.url}/login`, times(PER_MINUTE + 1, frame))).toEqual([
        302,
        302,
        HELD_BACK,
      ]);
      const bare = { headers: { 'x-forwarded-for': '192.0.2.61' } };
      expect(await askRepeatedly(`${service.url}/login`, times(PER_MINUTE + 1, bare))).toEqual([
        302,
        302,
        HELD_BACK,
      ]);
    });

    it('and a sign-out that a page of ours posts takes one', async () => {
      const headers = { 'x-forwarded-for': '192.0.2.62', origin: service.url };
      const post = { method: 'POST', headers: { ...headers, 'sec-fetch-mode': 'cors' } };
      const statuses = await askRepeatedly(`${service.url}/logout`, times(PER_MINUTE + 1, post));
      expect(statuses.at(-1)).toBe(HELD_BACK);
    });
  });

  it('are not counted by a session cookie that is not valid: another site may have planted it', async () => {
    const planted = `${SESSION_COOKIE}=BBBBBBBB.${'A'.repeat(43)}`;
    const others = Array.from({ length: PER_MINUTE + 1 }, (_, at) =>
      from(`198.51.100.${20 + at}`, planted),
    );
    expect(await askRepeatedly(`${service.url}/login`, others)).toEqual([302, 302, 302]);
  });

  it('/me is never held back', async () => {
    const many = times(PER_MINUTE * 10, from('203.0.113.1'));
    expect(new Set(await askRepeatedly(`${service.url}/me`, many))).toEqual(new Set([401]));
  });
});

describe('Forwarded addresses of a peer that is no trusted proxy', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startWith(
      `rateLimit: { perMinute: ${PER_MINUTE} }\ntrustedProxies: [192.0.2.1]\n`,
    );
  });
  afterAll(() => service.stop());

  it('change nothing: it is counted by the address of its connection', async () => {
    const asked = ['203.0.113.1', '203.0.113.2', '203.0.113.3'].map((address) => from(address));
    expect(await askRepeatedly(`${service.url}/login`, asked)).toEqual([302, 302, HELD_BACK]);
  });
});

describe('An account that may not enter any more', () => {
  it('gets 403 at /me, a page instead of a new session, and enters again when it may', async () => {
    const withDomain = (domain: string) => `access: { emailDomains: [${domain}] }\n`;
    let service = await startWith(withDomain('example.test'));
    onTestFinished(() => service.stop());
    const browser = new Browser();
    await service.signIn(browser);
    const me = () => browser.step(`${service.url}/me`, { headers: { accept: 'application/json' } });
    expect((await me()).status).toBe(200);

    await service.running.stop();
    writeFileSync(config, withDomain('other.test'));
    service = await service.restart();
    const refused = await me();
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.body)).toMatchObject({ status: 403, reason: 'not_allowed' });
    const again = await service.signIn(new Browser());
    expect([again.status, beginsSession(again)]).toEqual([403, false]);
    // A request without a session is still answered 401.
    expect((await exchange(`${service.url}/me`)).status).toBe(401);

    await service.running.stop();
    writeFileSync(config, withDomain('example.test'));
    service = await service.restart();
    expect((await me()).status).toBe(200);
  });
});
