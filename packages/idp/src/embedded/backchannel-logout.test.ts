import { readFile } from 'node:fs/promises';
import { createBrowser, hiddenField } from '@sallyport/testing/idp/browser';
import {
  authorizeUrl,
  CLIENT_IDS,
  exchangeOf,
  NATIVE_REQUEST,
  PUBLIC_URL,
  type RunningIdp,
  requestToken,
  signIn,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const WEB = { client_id: CLIENT_IDS.web };

let running: RunningIdp;
afterEach(() => running.close());

async function signedIn(login: 'ada' | 'grace' = 'ada') {
  const browser = createBrowser();
  const { callback } = await signIn(running, authorizeUrl(running), { browser, login });
  const web = `${CLIENT_IDS.web}:${await readFile(running.idp.webClientSecretFile, 'utf8')}`;
  const { body } = await requestToken(running, exchangeOf(callback), web);
  const idToken = String(body['id_token']);
  return { browser, idToken, sid: decodeJwt(idToken)['sid'] };
}

const logoutUrl = (parameters: Record<string, string>) =>
  `${running.issuer}/idp/logout?${new URLSearchParams(parameters).toString()}`;
/** The claims of a logout token, its signature and type verified. */
async function verified(token: string | undefined) {
  const keys = createRemoteJWKSet(new URL(`${running.issuer}/idp/jwks`));
  const options = { issuer: running.issuer, audience: CLIENT_IDS.web, typ: 'logout+jwt' };
  return (await jwtVerify(token ?? '', keys, options)).payload;
}

describe('back-channel logout', () => {
  it('sends the web application a logout token of the session that has ended, when an ID token proves whose it is', async () => {
    running = await startIdp();
    const { browser, idToken, sid } = await signedIn();
    await browser.get(logoutUrl({ ...WEB, id_token_hint: idToken }));
    expect(running.logouts.map(({ url }) => url)).toEqual([
      `${PUBLIC_URL}/auth/backchannel-logout`,
    ]);
    expect(typeof sid).toBe('string');
    const claims = await verified(running.logouts[0]?.token);
    expect(claims).toMatchObject({
      sub: 'ada',
      sid,
      jti: expect.any(String),
      events: { [EVENT]: {} },
    });
    expect(claims).not.toHaveProperty('nonce');
    expect(Number(claims.exp) - Number(claims.iat)).toBe(120);
    expect(running.events).toContainEqual(
      `idp.backchannel_logout.delivered ${JSON.stringify({ client_id: CLIENT_IDS.web })}`,
    );
  });

  it('sends it also when a person confirms on the page, and not before', async () => {
    running = await startIdp();
    const { browser, sid } = await signedIn();
    const page = await browser.get(logoutUrl(WEB));
    expect(running.logouts).toEqual([]);
    await browser.submit(`${running.issuer}/idp/logout/confirm`, {
      xsrf: hiddenField(page.text, 'xsrf'),
      logout: 'yes',
    });
    expect(running.logouts).toHaveLength(1);
    expect(await verified(running.logouts[0]?.token)).toMatchObject({ sub: 'ada', sid });
  });

  it('sends none about other people, and none to an application that is not registered for it', async () => {
    running = await startIdp();
    const grace = await signedIn('grace');
    const native = createBrowser();
    await signIn(running, authorizeUrl(running, NATIVE_REQUEST), { browser: native });
    const page = await native.get(logoutUrl({}));
    await native.submit(`${running.issuer}/idp/logout/confirm`, {
      xsrf: hiddenField(page.text, 'xsrf'),
      logout: 'yes',
    });
    expect(running.logouts).toEqual([]);
    await grace.browser.get(logoutUrl({ ...WEB, id_token_hint: grace.idToken }));
    expect(await verified(running.logouts[0]?.token)).toMatchObject({ sub: 'grace' });
  });

  it.each<[string, () => Promise<Response>]>([
    ['refuses', async () => new Response(null, { status: 400 })],
    ['cannot be reached', async () => Promise.reject(new TypeError('fetch failed'))],
  ])('ends the session although the application %s, and says so', async (_, answerLogout) => {
    running = await startIdp({ answerLogout });
    const { browser, idToken } = await signedIn();
    const answer = await browser.get(logoutUrl({ ...WEB, id_token_hint: idToken }));
    expect(answer.status).toBe(303);
    const silent = await browser.get(authorizeUrl(running, { prompt: 'none' }));
    expect(new URL(silent.location ?? '').searchParams.get('error')).toBe('login_required');
    expect(running.events).toContainEqual(
      expect.stringMatching(/^idp\.backchannel_logout\.failed .*"client_id":"web-app"/),
    );
  });

  it('gives the web application the sid in its ID tokens, another for each sign-in', async () => {
    running = await startIdp();
    const sids = await Promise.all([signedIn(), signedIn(), signedIn('grace')]);
    expect(new Set(sids.map(({ sid }) => sid)).size).toBe(3);
  });
});
