import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION } from './wire/browser.ts';
import { exchange } from './wire/exchange.ts';
import { type Plane, startPlane } from './wire/platform.ts';

const DEEP_LINK = '/console/projects/a%20b/x?q=1%202&next=%2Fy&empty=&z=%C3%A9';

describe('Requirement, "Browser login flow", through the embedded gateway', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane();
  });
  afterAll(() => plane.stop());

  it('goes through the eight steps one by one', async () => {
    const browser = new Browser();

    // 1 and 2: a protected route; the check finds no session.
    const check = await browser.step(`${plane.url}/me`);
    expect(check.status).toBe(401);
    const asked = await browser.step(plane.url + DEEP_LINK);
    // 3
    expect(asked.status).toBe(302);
    expect(asked.location).toBe(`${plane.url}/login?redirect_url=${encodeURIComponent(DEEP_LINK)}`);
    // 4
    const login = await browser.step(asked.location ?? '');
    expect(login.status).toBe(302);
    const authorize = new URL(login.location ?? '');
    expect(authorize.origin).toBe(plane.issuer);
    expect(authorize.searchParams.get('response_type')).toBe('code');
    expect(authorize.searchParams.get('code_challenge_method')).toBe('S256');
    expect(authorize.searchParams.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    expect(authorize.searchParams.get('redirect_uri')).toBe(`${plane.url}/callback`);
    expect(authorize.searchParams.get('scope')).toBe('profile openid offline_access');
    // 5
    const page = await browser.visit(authorize.href);
    const landed = await browser.submit(page, { login: 'ada', password: plane.password('ada') });
    const callback = browser.history.at(-2);
    const answered = browser.history.at(-3);
    expect(new URL(answered?.url ?? '').origin).toBe(plane.issuer);
    expect([answered?.status, answered?.location]).toEqual([302, callback?.url]);
    expect(callback?.url).toMatch(/\/callback\?code=[\w.~-]+&state=/);
    // 6 and 7
    expect(callback?.status).toBe(302);
    expect(callback?.location).toBe(plane.url + DEEP_LINK);
    expect(
      callback?.setCookies.some((line) => /^core_session=.*; HttpOnly; SameSite=Lax$/.test(line)),
    ).toBe(true);
    // 8
    expect(landed.url).toBe(plane.url + DEEP_LINK);
    expect(landed.status).toBe(200);
    expect(landed.body).toContain('Hello, Ada Lovelace');
    const again = await browser.step(`${plane.url}/me`);
    expect(again.status).toBe(200);
    expect(JSON.parse(again.body)).toMatchObject({
      name: 'Ada Lovelace',
      email: 'ada@example.test',
    });
  });

  it('forwards nothing to the backend without a session', async () => {
    const refused = await exchange(plane.url + DEEP_LINK, { headers: NAVIGATION });
    expect(refused.status).toBe(302);
    expect(refused.body).not.toContain('Hello');
    const planted = await exchange(plane.url + DEEP_LINK, {
      headers: {
        ...NAVIGATION,
        cookie: 'core_session=AAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
        'x-user-subject': 'ada',
      },
    });
    expect(planted.status).toBe(302);
    expect(planted.body).not.toContain('Hello');
  });

  it('answers a program with 401 unchanged, as a problem document with the sign-in address', async () => {
    const refused = await exchange(`${plane.url}/api/v1/projects`, {
      headers: { accept: 'application/json' },
    });
    expect(refused.status).toBe(401);
    expect(refused.headers['content-type']).toBe('application/problem+json');
    expect(refused.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(JSON.parse(refused.body)).toMatchObject({
      status: 401,
      reason: 'no_credential',
      login_url: `${plane.url}/login`,
    });
  });

  it('does not let a wrong password through', async () => {
    const browser = new Browser();
    const page = await browser.visit(`${plane.url}/`);
    const stays = await browser.submit(page, {
      login: 'ada',
      password: `${plane.password('ada')}x`,
    });
    expect(new URL(stays.url).origin).toBe(plane.issuer);
    expect(browser.cookieNames('localhost')).not.toContain('core_session');
  });
});
