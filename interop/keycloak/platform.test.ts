import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, makeHome } from '../../conformance/cli/command.ts';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type MovedClock, startMovedClock } from '../../conformance/wire/moved-clock.ts';
import { holdRedirectPort } from '../../conformance/wire/redirect-port.ts';
import { NGINX } from '../nginx/nginx.ts';
import { KEYCLOAK } from './keycloak-part.ts';
import { type KeycloakPlatform, startKeycloakPlatform } from './keycloak-platform.ts';
import { ADA } from './realm.ts';

const PAGE = '/console?q=1';
const MINUTE_MS = 60_000;
const STEPS_MAX = 5;

/** What the check says to the session of a browser. */
async function statusAt({ url }: KeycloakPlatform, browser: Browser): Promise<number> {
  const cookie = `core_session=${browser.cookie('localhost', 'core_session') ?? ''}`;
  return (await exchange(`${url}/me`, { headers: { cookie } })).status;
}

/** "Sign out" on the page of a person at the administration of Keycloak. */
/** By Keycloak's clock, which is this host's. */
function currentSecond(): number {
  return Math.floor(Date.now() / 1_000);
}

async function signOutByAdministrator({ realm }: KeycloakPlatform): Promise<void> {
  const [user] = (await realm.ask(`/users?username=${ADA.username}`)) as readonly {
    readonly id: string;
  }[];
  await realm.ask(`/users/${user?.id ?? ''}/logout`, 'POST');
}

describe.skipIf(KEYCLOAK.isLeftOut || NGINX.isLeftOut)(
  'Keycloak and nginx: a platform that idp apply has set up',
  () => {
    let clock: MovedClock;
    let platform: KeycloakPlatform;
    let home: Home;

    beforeAll(async () => {
      clock = await startMovedClock();
      platform = await startKeycloakPlatform(clock);
      home = makeHome();
    }, 400_000);
    afterAll(async () => {
      home.remove();
      await platform.stop();
      await clock.close();
    });

    const statusOf = (browser: Browser): Promise<number> => statusAt(platform, browser);

    it('signs a person in by the browser, back to the page that was asked for', async () => {
      const browser = new Browser();
      const landed = await platform.signIn(browser, PAGE);
      expect([landed.status, landed.url]).toEqual([200, platform.url + PAGE]);
      const me = await browser.step(`${platform.url}/me`);
      expect(JSON.parse(me.body)).toMatchObject({ name: 'Ada Lovelace' });
    });

    it('lets no one in with a wrong password', async () => {
      const browser = new Browser();
      const page = await browser.visit(platform.url + PAGE);
      const refused = await browser.submit(page, { username: ADA.username, password: 'wrong' });
      expect(refused.url.startsWith(platform.realm.issuer)).toBe(true);
      expect(await statusOf(browser)).toBe(401);
    });

    it('renews a session with refresh tokens that are good for one use each', async () => {
      const browser = new Browser();
      await platform.signIn(browser, PAGE);
      for (let turn = 0; turn < 2; turn += 1) {
        // Unused for longer than the confirmation lasts: the next request waits for the renewal.
        await clock.advance(12 * MINUTE_MS);
        expect(await statusOf(browser)).toBe(200);
      }
      const log = platform.service.stderr();
      expect(log).not.toContain('session_ended');
    });

    it('signs out at the IdP as well, and comes back to the platform', async () => {
      const browser = new Browser();
      await platform.signIn(browser, PAGE);
      const left = await browser.visit(`${platform.url}/logout`, {
        headers: { 'sec-fetch-site': 'same-origin' },
      });
      expect(left.url.startsWith(`${platform.url}/`)).toBe(true);
      expect(await statusOf(browser)).toBe(401);
      const again = await browser.visit(platform.url + PAGE);
      expect(again.body).toContain('name="password"');
    });

    it('ends a session at its next renewal when an administrator has signed the person out', async () => {
      const browser = new Browser();
      await platform.signIn(browser, PAGE);
      // Keycloak refuses tokens that were issued before the second of the sign-out.
      const signedInAt = currentSecond();
      await expect.poll(currentSecond).toBeGreaterThan(signedInAt);
      await signOutByAdministrator(platform);
      // An offline session gets no back-channel call.
      expect(await statusOf(browser)).toBe(200);
      await clock.advance(12 * MINUTE_MS);
      expect(await statusOf(browser)).toBe(401);
    });

    it('gives a service a token by client_credentials, which the platform admits', async () => {
      const { realm, url } = platform;
      const file = join(realm.folder, 'cloud/cloud-secret-auth/client_secret');
      const token = await home.run(['token'], {
        CORE_CREDENTIALS_CLIENT_ID: 'sallyport-service',
        CORE_CREDENTIALS_CLIENT_SECRET: readFileSync(file, 'utf8'),
        CORE_CREDENTIALS_AUTH_MODE: 'basic',
        CORE_ADMIN_ENDPOINT: url,
      });
      expect([token.code, token.stderr]).toEqual([0, '']);
      const bearer = { 'core-authorization': `Bearer ${token.stdout.trim()}` };
      expect((await exchange(`${url}/me`, { headers: bearer })).status).toBe(200);
      const forged = { 'core-authorization': `Bearer ${token.stdout.trim().slice(0, -4)}AAAA` };
      expect((await exchange(`${url}/me`, { headers: forged })).status).toBe(401);
    });

    it('signs the command line in by a code on another device', async () => {
      const person = makeHome();
      try {
        const under = person.start(['login', '--endpoint', platform.url, '--flow', 'device']);
        const said = await under.says('waiting until the code');
        await enter(/^ {2}(http\S+)$/m.exec(said)?.[1] ?? '');
        expect(await under.ended).toMatchObject({ code: 0 });
        const token = await person.run(['token', '--no-login']);
        const bearer = { 'core-authorization': `Bearer ${token.stdout.trim()}` };
        expect((await exchange(`${platform.url}/me`, { headers: bearer })).status).toBe(200);
      } finally {
        person.remove();
      }
    });

    it('signs the command line in by the browser with PKCE, and renews', async () => {
      const release = await holdRedirectPort();
      const person = makeHome();
      try {
        const under = person.start([
          'login',
          '--endpoint',
          platform.url,
          '--flow',
          'pkce',
          '--no-browser',
        ]);
        const said = await under.says('waiting for the browser');
        await enter(/^ {2}(http\S+)$/m.exec(said)?.[1] ?? '');
        expect(await under.ended).toMatchObject({ code: 0 });
        const first = await person.run(['token', '--no-login']);
        const renewed = await person.run(['token', '--no-login', '--min-ttl', '3590s']);
        expect([first.code, renewed.code, renewed.stderr]).toEqual([0, 0, '']);
      } finally {
        person.remove();
        await release();
      }
    });

    /** What a person does on the pages of the IdP: a form after the other. */
    async function enter(address: string): Promise<void> {
      const browser = new Browser();
      let page = await browser.visit(address);
      for (let steps = 0; steps < STEPS_MAX && /<form/i.test(page.body); steps += 1)
        page = await browser.submit(page, page.body.includes('name="password"') ? { ...ADA } : {});
    }
  },
);

describe.skipIf(KEYCLOAK.isLeftOut || NGINX.isLeftOut)(
  'Keycloak and nginx: a platform that asks for no offline_access',
  () => {
    let clock: MovedClock;
    let platform: KeycloakPlatform;

    beforeAll(async () => {
      clock = await startMovedClock();
      platform = await startKeycloakPlatform(clock, [
        'auth:',
        '  userAuth:',
        '    openId:',
        '      scopes: [openid, profile, email]',
      ]);
    }, 400_000);
    afterAll(async () => {
      await platform.stop();
      await clock.close();
    });

    it('ends a session at once, by back-channel logout, when the person signs out at the IdP', async () => {
      const [browser, bystander] = [new Browser(), new Browser()];
      await platform.signIn(browser, PAGE);
      await platform.signIn(bystander, PAGE);
      const asked = await browser.visit(`${platform.realm.issuer}/protocol/openid-connect/logout`);
      await browser.submit(asked, {});
      await expect.poll(() => statusAt(platform, browser), { timeout: 20_000 }).toBe(401);
      expect(await statusAt(platform, bystander)).toBe(200);
    });

    // After the call: a logout token of the present is too old for a clock that was moved.
    it('renews its sessions without it', async () => {
      const browser = new Browser();
      await platform.signIn(browser, PAGE);
      await clock.advance(12 * MINUTE_MS);
      expect(await statusAt(platform, browser)).toBe(200);
    });

    it('ends a session at its next renewal at the latest when an administrator has signed the person out', async () => {
      const browser = new Browser();
      await platform.signIn(browser, PAGE);
      await signOutByAdministrator(platform);
      await clock.advance(12 * MINUTE_MS);
      expect(await statusAt(platform, browser)).toBe(401);
    });
  },
);
