import { createHash } from 'node:crypto';
import {
  createTestPorts,
  metadataOf,
  START,
  type TestPorts,
} from '@sallyport/testing/client/ports';
import { type ScriptedServer, startScriptedServer } from '@sallyport/testing/idp/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Grant } from '../grant.ts';
import { createDeviceCodeGrant } from './device-code.ts';

const STARTED = {
  device_code: 'd3vice',
  user_code: 'ABCD-EFGH',
  verification_uri: 'https://idp.example.com/device',
  verification_uri_complete: 'https://idp.example.com/device?user_code=ABCD-EFGH',
  expires_in: 900,
  interval: 5,
};
const TOKENS = { body: { access_token: 'at', token_type: 'Bearer', refresh_token: 'rt' } };
const refused = (error: string) => ({ status: 400, body: { error } });

let server: ScriptedServer;
let ports: TestPorts;
beforeEach(async () => {
  server = await startScriptedServer();
  ports = createTestPorts();
});
afterEach(() => server.close());

function create(changes = {}): Grant {
  return createDeviceCodeGrant(
    {
      metadata: metadataOf(server.origin),
      tokenEndpoint: `${server.origin}/token`,
      scopes: ['all'],
      audience: '',
      timeoutMs: 600_000,
      ...changes,
    },
    ports,
  );
}

const polls = () => server.requests.filter(({ path }) => path === '/token');

describe('the device code grant', () => {
  it('shows the code and both addresses, then asks at the server’s pace until there are tokens', async () => {
    server.script('/device', { body: STARTED });
    server.script('/token', refused('authorization_pending'), TOKENS);
    expect(await create().obtain()).toMatchObject({
      value: { accessToken: 'at', refreshToken: 'rt' },
    });
    expect(ports.prompts).toEqual([
      {
        kind: 'device_code',
        userCode: 'ABCD-EFGH',
        verificationUri: 'https://idp.example.com/device',
        verificationUriComplete: 'https://idp.example.com/device?user_code=ABCD-EFGH',
        expiresAt: START + 600_000,
      },
    ]);
    expect(ports.waits).toEqual([5_000, 5_000]);
    expect(polls()[0]?.form).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: 'd3vice',
      client_id: 'native',
      code_verifier: expect.stringMatching(/^[\w-]{64}$/),
    });
  });

  it('sends an S256 challenge of the verifier that it presents', async () => {
    server.script('/device', { body: STARTED });
    server.script('/token', TOKENS);
    await create({ audience: 'api' }).obtain();
    const { code_challenge: challenge, ...start } = server.requests[0]?.form ?? {};
    expect(start).toEqual({
      client_id: 'native',
      scope: 'all',
      audience: 'api',
      code_challenge_method: 'S256',
    });
    const verifier = polls()[0]?.form['code_verifier'] ?? '';
    expect(challenge).toBe(createHash('sha256').update(verifier).digest('base64url'));
  });

  it('waits 5 seconds longer after each slow_down, for good', async () => {
    server.script('/device', { body: STARTED });
    const pending = refused('authorization_pending');
    server.script('/token', refused('slow_down'), pending, refused('slow_down'), TOKENS);
    await create().obtain();
    expect(ports.waits).toEqual([5_000, 10_000, 10_000, 15_000]);
  });

  it('waits 5 seconds when the server names no interval, and at least one', async () => {
    server.script(
      '/device',
      { body: { ...STARTED, interval: undefined } },
      { body: { ...STARTED, interval: 0 } },
    );
    server.script('/token', TOKENS);
    await create().obtain();
    await create().obtain();
    expect(ports.waits).toEqual([5_000, 1_000]);
  });

  it('rides out 5xx and a connection that breaks, more slowly', async () => {
    server.script('/device', { body: STARTED });
    server.script('/token', { status: 503 }, { status: 429 }, TOKENS);
    expect((await create().obtain()).ok).toBe(true);
    expect(ports.waits).toEqual([5_000, 10_000, 20_000]);
    let calls = 0;
    const flaky: typeof fetch = (input, init) => {
      calls += 1;
      return calls === 2 ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
    };
    const metadata = metadataOf(server.origin);
    const options = {
      metadata,
      tokenEndpoint: metadata.tokenEndpoint,
      scopes: [],
      audience: '',
      timeoutMs: 600_000,
    };
    expect((await createDeviceCodeGrant(options, { ...ports, fetch: flaky }).obtain()).ok).toBe(
      true,
    );
  });

  it.each(['access_denied', 'expired_token', 'invalid_grant', 'invalid_client'])(
    'stops at %s',
    async (error) => {
      server.script('/device', { body: STARTED });
      server.script('/token', refused(error));
      expect(await create().obtain()).toMatchObject({ error: { error } });
      expect(polls()).toHaveLength(1);
    },
  );

  it.each([
    ['the server’s time', { expires_in: 12 }, {}],
    ['the configured time', {}, { timeoutMs: 12_000 }],
  ])('stops when %s is over', async (_, answer, options) => {
    server.script('/device', { body: { ...STARTED, ...answer } });
    server.script('/token', refused('authorization_pending'));
    expect(await create(options).obtain()).toMatchObject({ error: { error: 'expired_token' } });
    expect(ports.waits).toEqual([5_000, 5_000]);
  });

  it('stops when it is called off', async () => {
    ports = createTestPorts({ isTimeEndless: true });
    server.script('/device', { body: STARTED });
    const stop = new AbortController();
    const show = ports.show;
    const metadata = metadataOf(server.origin);
    const outcome = createDeviceCodeGrant(
      {
        metadata,
        tokenEndpoint: metadata.tokenEndpoint,
        scopes: [],
        audience: '',
        timeoutMs: 600_000,
      },
      {
        ...ports,
        show: (prompt) => {
          show(prompt);
          stop.abort();
        },
      },
    ).obtain({ signal: stop.signal });
    expect(await outcome).toMatchObject({ error: { error: 'login_cancelled' } });
    expect(polls()).toHaveLength(0);
  });

  it('is refused before anything is sent when the platform does not offer it', async () => {
    const metadata = metadataOf(server.origin, { deviceAuthorizationEndpoint: '' });
    expect(await create({ metadata }).obtain()).toMatchObject({
      error: { error: 'unsupported_grant' },
    });
    expect(server.requests).toHaveLength(0);
  });

  it('passes on why the server refuses to start it', async () => {
    server.script('/device', refused('unauthorized_client'));
    expect(await create().obtain()).toMatchObject({
      error: { error: 'unauthorized_client', hint: expect.stringContaining('grant type') },
    });
  });

  it.each([
    { device_code: undefined },
    { user_code: 'a\u001b[2J' },
    { user_code: '' },
    { verification_uri: 'javascript:alert(1)' },
    { verification_uri: 'http://idp.example.com/device' },
    { verification_uri_complete: 'file:///etc/passwd' },
    { expires_in: 'x' },
    { expires_in: -1 },
    { interval: 'x' },
  ])('does not act on an answer with %j', async (change) => {
    server.script('/device', { body: { ...STARTED, ...change } });
    await expect(create().obtain()).rejects.toMatchObject({ code: 'SP_IDP_PROTOCOL' });
    expect(ports.prompts).toEqual([]);
  });

  it('refreshes as the native app, and keeps the refresh token when it is not rotated', async () => {
    const { refresh_token: _, ...unrotated } = TOKENS.body;
    server.script('/token', TOKENS, { body: unrotated }, refused('invalid_grant'));
    const grant = create();
    expect(await grant.refresh?.('old')).toMatchObject({ value: { refreshToken: 'rt' } });
    expect(await grant.refresh?.('old')).toMatchObject({ value: { refreshToken: 'old' } });
    expect(await grant.refresh?.('old')).toMatchObject({ error: { error: 'invalid_grant' } });
    expect(polls()[0]?.form).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'old',
      client_id: 'native',
    });
  });
});
