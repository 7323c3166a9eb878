import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Platform, startPlatform } from './gate.ts';
import { NGINX } from './nginx.ts';

/** With whatever a browser leaves as it is, so that it is the product that would change it. */
const DEEP_LINK =
  "/console/a%20b/caf%C3%A9/x%252Fy/it's;v=1[z]?q=1%202&next=%2Fy&empty=&&plus=a+b&q={|}[^`]&z=%C3%A9";

describe.skipIf(NGINX.isLeftOut)('nginx: Requirement, "Browser login flow"', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());
  beforeEach(() => void platform.arrived());

  it('goes through the eight steps one by one, to the deep link byte for byte', async () => {
    const { url, service } = platform;
    const browser = new Browser();

    // 1: the browser asks for a protected route.
    const asked = await browser.step(url + DEEP_LINK);
    // 2: nginx asks the check, which finds no session.
    const check = platform.last('admin');
    expect(check.path).toBe('/me');
    expect(check.headers['x-original-uri']).toBe(DEEP_LINK);
    expect((await exchange(`${service.url}/me`)).status).toBe(401);
    // 3
    expect(asked.status).toBe(302);
    expect(asked.location).toBe(`${url}/login?redirect_url=${encodeURIComponent(DEEP_LINK)}`);
    // 4
    const login = await browser.step(asked.location ?? '');
    expect(login.status).toBe(302);
    const authorize = new URL(login.location ?? '');
    expect(authorize.origin).toBe(service.idp.issuer);
    expect(authorize.searchParams.get('code_challenge_method')).toBe('S256');
    expect(authorize.searchParams.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    expect(authorize.searchParams.get('redirect_uri')).toBe(`${url}/callback`);
    // 5: the IdP sends the browser back with a code.
    const answer = service.idp.authorize(authorize.href);
    expect(answer.get('code')).toBeTruthy();
    // 6 and 7: the code is exchanged, the session set, the browser sent to where it wanted to be.
    const { token } = service.idp.counts;
    const callback = await browser.step(`${url}/callback?${answer.toString()}`);
    expect(service.idp.counts.token).toBe(token + 1);
    expect(callback.status).toBe(302);
    expect(callback.location).toBe(url + DEEP_LINK);
    expect(
      callback.setCookies.some((line) => /^core_session=.*; HttpOnly; SameSite=Lax$/.test(line)),
    ).toBe(true);
    // 8: the check answers 200, and the backend gets the request.
    platform.arrived();
    const landed = await browser.step(callback.location ?? '');
    expect(landed.status).toBe(200);
    expect(platform.arrived()).toEqual([`console ${DEEP_LINK}`]);
    const me = await browser.step(`${url}/me`);
    expect(JSON.parse(me.body)).toMatchObject({ subject: 'ada', name: 'Ada Lovelace' });
  });

  it.each([
    ['no cookie', {}],
    ['a made-up cookie', { cookie: `core_session=AAAAAAAA.${'A'.repeat(43)}` }],
    ['a malformed cookie', { cookie: 'core_session=;;=,"\u00ff' }],
    ['a made-up bearer', { 'core-authorization': 'Bearer x.y.z' }],
    ['made-up identity headers', { 'x-user-subject': 'ada', 'x-user-issuer': 'x' }],
  ])('lets a navigation with %s through to no backend', async (_, headers) => {
    const refused = await exchange(platform.url + DEEP_LINK, {
      headers: { ...NAVIGATION, ...headers },
    });
    expect(refused.status).toBe(302);
    expect(platform.arrived()).toEqual([]);
  });

  it('ends a session for the next request already', async () => {
    const browser = new Browser();
    await platform.signIn(browser);
    expect((await browser.step(`${platform.url}/console`)).status).toBe(200);
    const stolen = browser.cookie('localhost', 'core_session') ?? '';
    await browser.step(`${platform.url}/logout`, { headers: { 'sec-fetch-site': 'same-origin' } });
    const replayed = await exchange(`${platform.url}/console`, {
      headers: { cookie: `core_session=${stolen}` },
    });
    expect(replayed.status).toBe(401);
  });

  it('sends a navigation whose address is too long for a header to sign in without it', async () => {
    const refused = await exchange(`${platform.url}/console?q=${'x'.repeat(6_000)}`, {
      headers: NAVIGATION,
    });
    expect(refused.status).toBe(302);
    expect(refused.location).toBe(`${platform.url}/login`);
  });

  it('carries a deep link of 4,000 characters through the IdP and back', async () => {
    const target = `/console?q=${'x'.repeat(3_900)}`;
    const browser = new Browser();
    const login = await browser.step(
      `${platform.url}/login?redirect_url=${encodeURIComponent(target)}`,
    );
    expect(login.status).toBe(302);
    const answer = platform.service.idp.authorize(login.location ?? '');
    const callback = await browser.step(`${platform.url}/callback?${answer.toString()}`);
    expect(callback.location).toBe(platform.url + target);
  });
});
