import { readFile } from 'node:fs/promises';
import { type Browser, createBrowser, hiddenField } from '@sallyport/testing/idp/browser';
import {
  authorizeUrl,
  CLIENT_IDS,
  exchangeOf,
  PUBLIC_URL,
  type RunningIdp,
  requestToken,
  signIn,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let running: RunningIdp;
let web: string;

beforeAll(async () => {
  running = await startIdp();
  web = `${CLIENT_IDS.web}:${await readFile(running.idp.webClientSecretFile, 'utf8')}`;
});

afterAll(() => running.close());

async function signedIn(login = 'ada', scope = 'profile openid offline_access') {
  const browser = createBrowser();
  const { callback } = await signIn(running, authorizeUrl(running, { scope }), { browser, login });
  const { body } = await requestToken(running, exchangeOf(callback), web);
  return { browser, tokens: body, idToken: String(body['id_token']) };
}

function logoutUrl(parameters: Record<string, string>): string {
  return `${running.issuer}/idp/logout?${new URLSearchParams(parameters).toString()}`;
}

async function hasSession(browser: Browser): Promise<boolean> {
  const answer = await browser.get(authorizeUrl(running, { prompt: 'none' }));
  return new URL(answer.location ?? '').searchParams.has('code');
}

const TARGET = {
  client_id: CLIENT_IDS.web,
  post_logout_redirect_uri: `${PUBLIC_URL}/logout`,
  state: 'a b&c',
};
const RETURNED = `${PUBLIC_URL}/logout?state=a+b%26c`;

describe('RP-initiated logout', () => {
  it('with the ID token of the session ends at the post-logout URI with state, without a page', async () => {
    const { browser, idToken } = await signedIn();
    expect(await hasSession(browser)).toBe(true);
    const answer = await browser.get(logoutUrl({ ...TARGET, id_token_hint: idToken }));
    expect(answer.status).toBe(303);
    expect(answer.location).toBe(RETURNED);
    expect(await hasSession(browser)).toBe(false);
  });

  it('returns to the registered URI byte for byte when there is no state', async () => {
    const { browser, idToken } = await signedIn();
    const { state: _, ...target } = TARGET;
    const answer = await browser.get(logoutUrl({ ...target, id_token_hint: idToken }));
    expect(answer.headers.get('location')).toBe(`${PUBLIC_URL}/logout`);
  });

  it('without a session goes straight to the post-logout URI', async () => {
    const { idToken } = await signedIn();
    const answer = await createBrowser().get(logoutUrl({ ...TARGET, id_token_hint: idToken }));
    expect(answer.status).toBe(303);
    expect(answer.location).toBe(RETURNED);
  });

  it('ends access tokens of the session; a grant with offline_access outlives it', async () => {
    const online = await signedIn('ada', 'openid profile');
    const offline = await signedIn();
    for (const { browser, idToken } of [online, offline])
      await browser.get(logoutUrl({ ...TARGET, id_token_hint: idToken }));
    const statuses = await Promise.all(
      [online, offline].map(async ({ tokens }) => {
        const headers = { authorization: `Bearer ${String(tokens['access_token'])}` };
        return (await fetch(`${running.issuer}/idp/userinfo`, { headers })).status;
      }),
    );
    expect(statuses).toEqual([401, 200]);
  });

  it.each([
    `${PUBLIC_URL}/logout/`,
    `${PUBLIC_URL}/logout?x`,
    `${PUBLIC_URL}/other`,
    'https://evil.test/logout',
  ])('refuses the unregistered post-logout URI %s, and the session stays', async (uri) => {
    const { browser, idToken } = await signedIn();
    const request = { ...TARGET, id_token_hint: idToken, post_logout_redirect_uri: uri };
    const answer = await browser.get(logoutUrl(request));
    expect(answer.status).toBe(400);
    expect(answer.location).toBeUndefined();
    expect(await hasSession(browser)).toBe(true);
  });

  it('asks when nothing proves whose session it is, and ends it when confirmed', async () => {
    const { browser } = await signedIn();
    const page = await browser.get(logoutUrl(TARGET));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Sign out?');
    expect(await hasSession(browser)).toBe(true);
    const fresh = await browser.get(logoutUrl(TARGET));
    const answer = await browser.submit(`${running.issuer}/idp/logout/confirm`, {
      xsrf: hiddenField(fresh.text, 'xsrf'),
      logout: 'yes',
    });
    expect(answer.location).toBe(RETURNED);
    expect(await hasSession(browser)).toBe(false);
  });

  it('asks when the ID token is of another user', async () => {
    const { browser } = await signedIn('ada');
    const { idToken } = await signedIn('grace');
    const page = await browser.get(logoutUrl({ ...TARGET, id_token_hint: idToken }));
    expect(page.status).toBe(200);
    expect(await hasSession(browser)).toBe(true);
  });

  it('refuses an ID token that this issuer did not sign', async () => {
    const { browser, idToken } = await signedIn();
    const [header, payload] = idToken.split('.');
    const forged = `${header}.${payload}.${Buffer.alloc(256).toString('base64url')}`;
    const answer = await browser.get(logoutUrl({ ...TARGET, id_token_hint: forged }));
    expect(answer.status).toBe(400);
    expect(await hasSession(browser)).toBe(true);
  });

  it('refuses an ID token that was given to another application than the one named', async () => {
    const { browser, idToken } = await signedIn();
    const request = { client_id: CLIENT_IDS.native, id_token_hint: idToken };
    const answer = await browser.get(logoutUrl(request));
    expect(answer.status).toBe(400);
    expect(await hasSession(browser)).toBe(true);
  });

  it('refuses a confirmation from a page that was not shown to this browser', async () => {
    const { browser } = await signedIn();
    await browser.get(logoutUrl(TARGET));
    const answer = await browser.submit(`${running.issuer}/idp/logout/confirm`, {
      xsrf: 'guess',
      logout: 'yes',
    });
    expect(answer.status).toBe(400);
    expect(await hasSession(browser)).toBe(true);
  });

  it('without a target ends on a page that says so', async () => {
    const { browser, idToken } = await signedIn();
    const first = await browser.get(logoutUrl({ id_token_hint: idToken }));
    const page = await browser.follow(first, running.issuer);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Signed out');
  });
});
