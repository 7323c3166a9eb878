import { type Lie, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Service, startService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { askMe, SESSION_COOKIE } from '../wire/sign-in.ts';

const MINUTE = 60_000;
const IDLE_MINUTES = 10;
const LIFETIMES = ['session:', `  idleTimeout: ${IDLE_MINUTES}m`, '  absoluteLifetime: 1h'];

interface Status {
  readonly authenticated: boolean;
  readonly account?: string;
  readonly age?: number;
  readonly expires_in?: number;
  readonly login_url: string;
}

describe('The session status', () => {
  let clock: MovedClock;
  let service: Service;
  beforeAll(async () => {
    clock = await startMovedClock();
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    idp.metadata = { userinfo_endpoint: undefined };
    service = await startService({}, [], { clock }, idp, LIFETIMES);
  });
  afterAll(async () => {
    await service.stop();
    await clock.close();
  });

  const ask = async (browser: Browser) => {
    const received = await browser.step(`${service.url}/auth/session`, {
      headers: { accept: 'application/json', 'sec-fetch-mode': 'cors' },
    });
    expect(received.status).toBe(200);
    return { ...received, status: JSON.parse(received.body) as Status };
  };
  const signedIn = async (who = 'ada') => {
    const lie: Lie = {
      // The server's clock is ahead of this one.
      forge: (forgery) => {
        const now = Math.floor(clock.now() / 1_000);
        const claims = { ...forgery.claims, sub: who, iat: now, exp: now + 300 };
        return service.idp.honest({ ...forgery, claims });
      },
      // Without a refresh token, so that the idle time alone decides.
      answer: (idToken) => ({
        body: JSON.stringify({
          access_token: `token-of-${who}`,
          token_type: 'Bearer',
          id_token: idToken,
        }),
      }),
    };
    const browser = new Browser();
    const back = await service.signIn(browser, '/', lie);
    expect(back.status).toBe(302);
    return browser;
  };

  it('gives the same account text for two sessions of one person and another for another person; it does not reveal the person', async () => {
    const [first, second, grace] = [await signedIn(), await signedIn(), await signedIn('grace')];
    const answers = [await ask(first), await ask(second), await ask(grace)];
    const [one, other, hers] = answers.map(({ status }) => status.account);
    expect(one).toMatch(/^[A-Za-z0-9_-]{16}$/);
    expect(other).toBe(one);
    expect(hers).not.toBe(one);
    for (const { body } of answers)
      expect(body).not.toMatch(/ada|grace|token-of|127\.0\.0\.1|email|name|sub/);
  });

  it('gives the address of the sign-in with a session and without one, and no account without one', async () => {
    const loginUrl = `${service.url}/login`;
    expect((await ask(await signedIn())).status).toEqual({
      authenticated: true,
      account: expect.any(String),
      age: expect.any(Number),
      expires_in: expect.any(Number),
      login_url: loginUrl,
    });
    expect((await ask(new Browser())).status).toEqual({
      authenticated: false,
      login_url: loginUrl,
    });
  });

  it('is no use of the session: a tab that only asks keeps none alive, and gets no cookie', async () => {
    const browser = await signedIn();
    for (let minute = 0; minute < IDLE_MINUTES; minute += 1) {
      const { status, setCookies } = await ask(browser);
      expect(status.authenticated).toBe(true);
      const left = (IDLE_MINUTES - minute) * 60;
      expect(status.expires_in).toBeLessThanOrEqual(left);
      expect(status.expires_in).toBeGreaterThan(left - 60);
      expect(setCookies).toEqual([]);
      await clock.advance(MINUTE);
    }
    expect((await ask(browser)).status).toEqual({
      authenticated: false,
      login_url: `${service.url}/login`,
    });
    expect(await askMe(service, browser)).toBe(401);
  });

  it('a request of a person is one: /me keeps the session alive and slides its cookie', async () => {
    const browser = await signedIn();
    for (let minute = 0; minute <= IDLE_MINUTES; minute += 1) {
      await ask(browser);
      const me = await browser.step(`${service.url}/me`);
      expect(me.status).toBe(200);
      expect(me.setCookies.length).toBe(minute === 0 ? 0 : 1);
      expect((await ask(browser)).status.expires_in).toBeGreaterThan((IDLE_MINUTES - 1) * 60);
      await clock.advance(MINUTE);
    }
  });

  it('the account page is a use, and so is the page of a pop-up', async () => {
    for (const path of ['/auth/account', '/auth/signed-in']) {
      const browser = await signedIn();
      await clock.advance(5 * MINUTE);
      const page = await browser.step(service.url + path);
      expect(page.setCookies).toEqual([expect.stringContaining(`${SESSION_COOKIE}=`)]);
      await clock.advance(6 * MINUTE);
      expect((await ask(browser)).status.authenticated).toBe(true);
    }
  });

  it('answers a bearer that it is no session', async () => {
    const answer = await exchange(`${service.url}/auth/session`, {
      headers: { 'core-authorization': 'Bearer anything' },
    });
    expect(JSON.parse(answer.body)).toEqual({
      authenticated: false,
      login_url: `${service.url}/login`,
    });
  });
});
