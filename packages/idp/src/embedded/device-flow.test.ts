import { createHash } from 'node:crypto';
import { type Browser, createBrowser, hiddenField } from '@sallyport/testing/idp/browser';
import {
  authorizeUrl,
  CLIENT_IDS,
  PUBLIC_URL,
  post,
  type RunningIdp,
  requestToken,
  signIn,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let running: RunningIdp;

beforeAll(async () => {
  running = await startIdp();
});

afterAll(() => running.close());

async function startDevice() {
  const fields = { client_id: CLIENT_IDS.native, scope: 'all', audience: '' };
  const { status, body } = await post(running, '/idp/device/code', fields);
  return {
    status,
    body,
    userCode: String(body['user_code']),
    poll: () =>
      requestToken(running, {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: CLIENT_IDS.native,
        device_code: String(body['device_code']),
        scope: 'all',
      }),
  };
}

/** Enters a code on the form; returns the page that asks to confirm it. */
async function enterCode(browser: Browser, userCode: string) {
  const page = await browser.get(`${running.issuer}/idp/device`);
  const xsrf = hiddenField(page.text, 'xsrf');
  return {
    xsrf,
    page: await browser.submit(`${running.issuer}/idp/device`, { xsrf, user_code: userCode }),
  };
}

describe('device flow', () => {
  it('RFC 8628 3.2: the answer holds interval, expires_in and a verification_uri without a query', async () => {
    const { status, body, userCode } = await startDevice();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      interval: 5,
      expires_in: 600,
      verification_uri: `${running.issuer}/idp/device`,
      verification_uri_complete: `${running.issuer}/idp/device?user_code=${userCode}`,
    });
  });

  it('gives a token after the person entered the code, confirmed it and signed in', async () => {
    const { userCode, poll } = await startDevice();
    expect((await poll()).body).toMatchObject({ error: 'authorization_pending' });

    const browser = createBrowser();
    const { xsrf, page } = await enterCode(browser, userCode.toLowerCase());
    expect(page.text).toContain(userCode);
    expect(page.text).toContain('Sallyport command line');
    const confirmed = await browser.submit(page.url, { xsrf, user_code: userCode, confirm: 'yes' });
    const signInPage = await browser.follow(confirmed, running.issuer);
    const password = running.idp.users[0]?.password ?? '';
    const submitted = await browser.submit(signInPage.url, { login: 'ada', password });
    const connected = await browser.follow(submitted, running.issuer);
    expect(connected.text).toContain('Device connected');

    const { status, body } = await poll();
    expect(status).toBe(200);
    expect(body).toMatchObject({ expires_in: 3_600, scope: 'all' });
    expect(decodeJwt(String(body['access_token']))).toMatchObject({ sub: 'ada', aud: PUBLIC_URL });
    expect((await poll()).body).toMatchObject({ error: 'invalid_grant' });
  });

  it('asks for no consent beyond the confirmation of the code when the person is signed in', async () => {
    const browser = createBrowser();
    await signIn(running, authorizeUrl(running), { browser });
    const { userCode, poll } = await startDevice();
    const { xsrf, page } = await enterCode(browser, userCode);
    expect((await poll()).body).toMatchObject({ error: 'authorization_pending' });
    const answer = await browser.submit(page.url, { xsrf, user_code: userCode, confirm: 'yes' });
    expect(answer.text).toContain('Device connected');
    expect((await poll()).status).toBe(200);
  });

  it('verification_uri accepts the code in its query; its one script is allowed by hash', async () => {
    const { userCode } = await startDevice();
    const browser = createBrowser();
    const page = await browser.get(`${running.issuer}/idp/device?user_code=${userCode}`);
    expect(page.status).toBe(200);
    const script = /<script>([\s\S]*)<\/script>/.exec(page.text)?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    expect(page.headers.get('content-security-policy')).toContain(`script-src 'sha256-${hash}'`);
    const answer = await browser.submit(page.url.split('?')[0] ?? '', {
      xsrf: hiddenField(page.text, 'xsrf'),
      user_code: hiddenField(page.text, 'user_code'),
    });
    expect(answer.text).toContain(userCode);
  });

  it('a refused device gets access_denied, and no token', async () => {
    const { userCode, poll } = await startDevice();
    const browser = createBrowser();
    const { xsrf, page } = await enterCode(browser, userCode);
    const answer = await browser.submit(page.url, {
      xsrf,
      user_code: userCode,
      confirm: 'yes',
      abort: 'yes',
    });
    expect(answer.text).toMatch(/role="alert">The device was refused/);
    expect((await poll()).body).toMatchObject({ error: 'access_denied' });
  });

  it('asks again for a code that is not known, and repeats it nowhere as markup', async () => {
    const { page } = await enterCode(createBrowser(), '<b>ABCD-EFGH');
    expect(page.text).toMatch(/role="alert">That code is not known/);
    expect(page.text).not.toContain('<b>');
  });

  it.each(['/idp/device/%', '/idp/device/unknown', '/idp/device/%ff'])(
    'answers %s, which belongs to no flow, with 400 and not with a failure',
    async (path) => {
      const answer = await createBrowser().get(`${running.issuer}${path}`);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('no longer open');
      const browser = createBrowser();
      await browser.get(`${running.issuer}/idp/device`);
      expect((await browser.get(`${running.issuer}${path}`)).status).toBe(400);
      expect(running.events.filter((line) => line.startsWith('idp.failed'))).toEqual([]);
    },
  );

  it('refuses a form from a browser without a session, and shows none that could not be sent', async () => {
    const browser = createBrowser();
    const answer = await browser.submit(`${running.issuer}/idp/device`, { user_code: 'x' });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('<form');
    expect(browser.cookieNames()).toEqual([]);
  });

  it('refuses a form that was not shown to this browser', async () => {
    const { userCode, poll } = await startDevice();
    const browser = createBrowser();
    await browser.get(`${running.issuer}/idp/device`);
    const fields = { xsrf: 'guess', user_code: userCode, confirm: 'yes' };
    const answer = await browser.submit(`${running.issuer}/idp/device`, fields);
    expect(answer.status).toBe(400);
    expect((await poll()).body).toMatchObject({ error: 'authorization_pending' });
  });
});
