/**
 * Requests of released clients, shape by shape: Python (flytekit, flyte) and Go (flytectl).
 */

import { readFile } from 'node:fs/promises';
import { createBrowser, hiddenField } from '@sallyport/testing/idp/browser';
import {
  authorizeUrl,
  CLIENT_IDS,
  CODE_CHALLENGE,
  exchangeOf,
  NATIVE_REQUEST,
  post,
  type RunningIdp,
  requestToken,
  signIn,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const URL_SAFE = /^[A-Za-z0-9._~-]+$/;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CLIENT_CREDENTIALS = { grant_type: 'client_credentials', scope: 'all' };

let running: RunningIdp;
let secret: string;

beforeAll(async () => {
  running = await startIdp();
  secret = await readFile(running.idp.serviceClientSecretFile, 'utf8');
});

afterAll(() => running.close());

/** A code of the native application, and the fields that the Go client exchanges it with. */
async function nativeCode() {
  const { callback } = await signIn(running, authorizeUrl(running, NATIVE_REQUEST));
  return exchangeOf(callback, NATIVE_REQUEST.redirect_uri);
}

/** Every octet percent-encoded, which RFC 3986 section 2.1 allows for any of them. */
const percentEncoded = (text: string): string =>
  [...Buffer.from(text)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('');

describe('characters of codes and tokens', () => {
  it('an authorization code survives HTML escaping, and so do the tokens it gives', async () => {
    const exchange = await nativeCode();
    expect(exchange['code']).toMatch(URL_SAFE);
    const { body } = await requestToken(running, { ...exchange, client_id: CLIENT_IDS.native });
    expect(body['access_token']).toMatch(URL_SAFE);
  });

  it('a device code and a user code survive a query string as they are', async () => {
    const fields = { client_id: CLIENT_IDS.native, scope: 'all' };
    const { body } = await post(running, '/idp/device/code', fields);
    expect(body['device_code']).toMatch(URL_SAFE);
    expect(body['user_code']).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
  });
});

describe('the code exchange of the Python clients', () => {
  /** They repeat the whole authorization request. */
  const repeated = {
    client_id: CLIENT_IDS.native,
    response_type: 'code',
    scope: 'all',
    state: 'any',
    audience: '',
    code_challenge: CODE_CHALLENGE,
    code_challenge_method: 'S256',
  };

  it('parameters of the authorization request and empty ones are ignored', async () => {
    const { status, body } = await requestToken(running, { ...(await nativeCode()), ...repeated });
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'all', expires_in: 3_600 });
  });

  it('a repeated challenge does not stand in for the verifier', async () => {
    const { code_verifier: _, ...exchange } = await nativeCode();
    const { status, body } = await requestToken(running, { ...exchange, ...repeated });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('the code exchange of the Go client', () => {
  it('Basic with an empty secret is accepted at the first try', async () => {
    const { status } = await requestToken(running, await nativeCode(), `${CLIENT_IDS.native}:`);
    expect(status).toBe(200);
  });

  it.each(['guess', ' ', ':'])(
    'Basic with the secret %j is refused, and the second try with client_id in the body has its code',
    async (guess) => {
      const exchange = await nativeCode();
      const first = await requestToken(running, exchange, `${CLIENT_IDS.native}:${guess}`);
      expect(first).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      const second = await requestToken(running, { ...exchange, client_id: CLIENT_IDS.native });
      expect(second.status).toBe(200);
    },
  );

  it('the public client cannot be used to exchange the code of another one', async () => {
    const { callback } = await signIn(running, authorizeUrl(running));
    const { status, body } = await requestToken(
      running,
      exchangeOf(callback),
      `${CLIENT_IDS.native}:`,
    );
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('Basic credentials', () => {
  it.each([
    [
      'both halves percent-encoded',
      (id: string, value: string) => `${percentEncoded(id)}:${percentEncoded(value)}`,
    ],
    [
      'the secret form-encoded, the identifier raw',
      (id: string, value: string) => `${id}:${encodeURIComponent(value)}`,
    ],
    ['both halves raw', (id: string, value: string) => `${id}:${value}`],
  ])('RFC 6749 2.3.1: %s', async (_name, spell) => {
    const right = spell(CLIENT_IDS.service, secret);
    expect((await requestToken(running, CLIENT_CREDENTIALS, right)).status).toBe(200);
    const wrong = spell(CLIENT_IDS.service, `${secret}x`);
    expect(await requestToken(running, CLIENT_CREDENTIALS, wrong)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
  });

  it('a secret is not decoded twice', async () => {
    const twice = percentEncoded(percentEncoded(secret));
    const basic = `${percentEncoded(CLIENT_IDS.service)}:${twice}`;
    expect((await requestToken(running, CLIENT_CREDENTIALS, basic)).status).toBe(401);
  });

  it.each(['service%zzapp', '%', 'service app'])(
    'the identifier %j is no one, and no failure',
    async (id) => {
      const { status } = await requestToken(running, CLIENT_CREDENTIALS, `${id}:${secret}`);
      expect([400, 401]).toContain(status);
    },
  );
});

describe('expires_in', () => {
  it.each([{}, { audience: '' }, { scope: '' }])(
    'is in every answer to client_credentials, %j included',
    async (extra) => {
      const fields = { ...CLIENT_CREDENTIALS, ...extra };
      const { body } = await requestToken(running, fields, `${CLIENT_IDS.service}:${secret}`);
      expect(body).toMatchObject({ expires_in: 3_600, token_type: 'Bearer', scope: 'all' });
    },
  );
});

describe('errors of the endpoints that programs call', () => {
  const browsers = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';

  it.each(['application/json', 'text/html', browsers, '*/*', 'image/png', ''])(
    'are JSON with a code, with Accept %j too',
    async (accept) => {
      const refusals: readonly (readonly [string, Record<string, string>, string])[] = [
        [
          '/idp/token',
          { grant_type: 'authorization_code', client_id: CLIENT_IDS.native, code: 'x' },
          'invalid_grant',
        ],
        [
          '/idp/token',
          { grant_type: 'nonsense', client_id: CLIENT_IDS.native },
          'unsupported_grant_type',
        ],
        [
          '/idp/token',
          { grant_type: DEVICE_GRANT, client_id: CLIENT_IDS.native, device_code: 'x' },
          'invalid_grant',
        ],
        ['/idp/token', { ...CLIENT_CREDENTIALS, client_id: 'nobody' }, 'invalid_client'],
        ['/idp/device/code', { client_id: 'nobody', scope: 'all' }, 'invalid_client'],
      ];
      for (const [path, fields, error] of refusals) {
        const { status, body } = await post(running, path, fields, undefined, { accept });
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
        expect(body).toMatchObject({ error });
      }
    },
  );
});

describe('the device flow of the Python clients', () => {
  const start = {
    client_id: CLIENT_IDS.native,
    scope: 'all',
    audience: '',
    code_challenge: CODE_CHALLENGE,
    code_challenge_method: 'S256',
  };

  it('starts with an empty audience and a PKCE challenge, and ends with expires_in', async () => {
    const { status, body } = await post(running, '/idp/device/code', start);
    expect(status).toBe(200);
    expect(body).toMatchObject({ interval: 5, expires_in: 600 });

    // They build the address themselves, and so a query of its own would break it.
    expect(body['verification_uri']).not.toContain('?');
    const browser = createBrowser();
    await signIn(running, authorizeUrl(running), { browser });
    const address = `${body['verification_uri']}?user_code=${body['user_code']}`;
    const page = await browser.get(address);
    expect(page.status).toBe(200);
    const fields = {
      xsrf: hiddenField(page.text, 'xsrf'),
      user_code: hiddenField(page.text, 'user_code'),
    };
    expect(fields.user_code).toBe(body['user_code']);
    const confirmation = { ...fields, confirm: 'yes' };
    const answer = await browser.submit(String(body['verification_uri']), confirmation);
    expect(answer.text).toContain('Device connected');

    const poll = {
      grant_type: DEVICE_GRANT,
      client_id: CLIENT_IDS.native,
      device_code: String(body['device_code']),
      scope: 'all',
      audience: '',
      code_verifier: 'v'.repeat(43),
    };
    const token = await requestToken(running, poll);
    expect(token.status).toBe(200);
    expect(token.body).toMatchObject({ expires_in: 3_600, scope: 'all' });
  });

  it('a poll before the person has answered is authorization_pending, as JSON', async () => {
    const { body } = await post(running, '/idp/device/code', start);
    const poll = {
      grant_type: DEVICE_GRANT,
      client_id: CLIENT_IDS.native,
      device_code: String(body['device_code']),
    };
    expect(await requestToken(running, poll)).toMatchObject({
      status: 400,
      body: { error: 'authorization_pending' },
    });
  });
});
