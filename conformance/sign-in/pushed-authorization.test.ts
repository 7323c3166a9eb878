import { createHash, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeIdp, type TokenAnswer } from '@sallyport/testing/idp/fake-idp';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION } from '../wire/browser.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import {
  type Service,
  startHostedService,
  WEB_CLIENT_ID,
  WEB_CLIENT_SECRET,
} from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import { basicOf, expectFailurePage, expectSignsIn, openSignIn } from '../wire/sign-in.ts';

const REQUIRED = { require_pushed_authorization_requests: true };

type Mode = 'auto' | 'always' | 'never';

function lines(mode: Mode): readonly string[] {
  return ['auth:', '  userAuth:', '    openId:', `      pushedAuthorization: ${mode}`];
}

/** A service in front of an IdP with something else in its metadata. */
async function start(
  mode: Mode | undefined,
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<Service> {
  const idp = await startFakeIdp(WEB_CLIENT_ID);
  idp.metadata = metadata;
  return startHostedService({}, [], idp, mode === undefined ? [] : lines(mode));
}

const login = (service: Service, query = '') =>
  new Browser().step(`${service.url}/login?redirect_url=/wanted${query}`);
const sentTo = ({ location }: Received) => new URL(location ?? 'about:blank').searchParams;
const pushes = ({ idp }: Service) => idp.requests.filter(({ path }) => path === '/par');

describe('A sign-in whose parameters are pushed', () => {
  let service: Service;
  beforeAll(async () => {
    service = await start('always');
  });
  afterEach(() => {
    service.idp.pushAnswer = undefined;
  });
  afterAll(() => service.stop());

  it('RFC 9126 section 4: sends the browser with client_id and request_uri, and nothing else', async () => {
    const received = await login(service);
    expect(received.status).toBe(302);
    expect(received.location).toContain(`${service.idp.issuer}/authorize?`);
    expect([...sentTo(received).keys()].toSorted()).toEqual(['client_id', 'request_uri']);
    expect(sentTo(received).get('client_id')).toBe(WEB_CLIENT_ID);
    expect(sentTo(received).get('request_uri')).toMatch(/^urn:ietf:params:oauth:request_uri:\d+$/);
  });

  it('RFC 9126 section 2.1: pushes them all, PKCE, state and nonce, with the authentication of the client', async () => {
    await login(service, '&idp=partners&prompt=login');
    const pushed = pushes(service).at(-1) ?? expect.fail('no push');
    const { form, method } = pushed;
    expect(method).toBe('POST');
    expect(Object.fromEntries(form)).toEqual({
      client_id: WEB_CLIENT_ID,
      response_type: 'code',
      redirect_uri: `${service.url}/callback`,
      scope: 'profile openid offline_access',
      state: expect.stringMatching(/^[\w.~-]{40,}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{22,}$/) as string,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
      idp: 'partners',
      prompt: 'login',
    });
    expect(basicOf(pushed)).toEqual([WEB_CLIENT_ID, WEB_CLIENT_SECRET]);
  });

  it('goes through, with the verifier of the challenge that was pushed', async () => {
    await expectSignsIn(service, new Browser());
    const challenge = pushes(service).at(-1)?.form.get('code_challenge');
    const verifier = service.idp.tokenForms.at(-1)?.get('code_verifier') ?? '';
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(challenge);
  });

  it('pushes other ones each time', async () => {
    const before = pushes(service).length;
    await Promise.all([login(service), login(service), login(service)]);
    const forms = pushes(service)
      .slice(before)
      .map(({ form }) => form);
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(new Set(forms.map((form) => form.get(name))).size).toBe(3);
  });

  it('accepts no callback with the state of another browser', async () => {
    const { query } = await openSignIn(service, '/wanted');
    const received = await new Browser().step(`${service.url}/callback?${query}`);
    expect(received.setCookies.join()).not.toContain('core_session=');
    expect(received.location ?? '').not.toContain('/wanted');
  });

  /** The push fails: a page, no attempt, nothing of the parameters in the browser's hands. */
  async function expectNoFrontChannel(reason: string, status: number): Promise<Received> {
    const received = await login(service);
    expectFailurePage(received, reason, status);
    expect(received.location).toBeUndefined();
    expect(received.setCookies).toEqual([]);
    const pushed = pushes(service).at(-1)?.form ?? new URLSearchParams();
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(received.body).not.toContain(pushed.get(name));
    return received;
  }

  it.each<[string, TokenAnswer]>([
    [
      'invalid_request',
      { status: 400, body: '{"error":"invalid_request","error_description":"<i>no</i>"}' },
    ],
    ['unauthorized_client', { status: 403, body: '{"error":"unauthorized_client"}' }],
    ['invalid_client', { status: 401, body: '{"error":"invalid_client"}' }],
    [
      'invalid_client',
      {
        status: 401,
        body: '{"error":"invalid_client"}',
        headers: { 'www-authenticate': 'Basic realm="idp"' },
      },
    ],
    ['slow_down', { status: 429, body: '{"error":"slow_down"}' }],
  ])(
    'that the IdP refuses with %s ends on its page, and not in the browser',
    async (error, answer) => {
      service.idp.pushAnswer = answer;
      const isPassing = error === 'slow_down';
      const received = isPassing
        ? await expectNoFrontChannel('idp_refused', 403)
        : await expectNoFrontChannel('misconfigured', 500);
      expect(received.body).toContain(error);
      expect(received.body).not.toContain('<i>');
      service.idp.pushAnswer = undefined;
      await expectSignsIn(service, new Browser());
    },
  );

  it.each([500, 502, 503])(
    'that the IdP answers %i ends on the page to try again',
    async (status) => {
      service.idp.pushAnswer = { status, body: '<html>', contentType: 'text/html' };
      const received = await expectNoFrontChannel('idp_unreachable', 503);
      expect(received.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    },
  );

  it('while the IdP is down ends on the page to try again, and goes through once it is up', async () => {
    await service.idp.goDown();
    const received = await expectNoFrontChannel('idp_unreachable', 503);
    expect(received.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    await service.idp.comeUp();
    await expectSignsIn(service, new Browser());
  });

  it.each<[string, TokenAnswer]>([
    ['another status', { status: 200, body: '{"request_uri":"urn:x","expires_in":60}' }],
    ['no request_uri', { status: 201, body: '{"expires_in":60}' }],
    ['an empty request_uri', { status: 201, body: '{"request_uri":"","expires_in":60}' }],
    ['a list of them', { status: 201, body: '{"request_uri":["urn:x"],"expires_in":60}' }],
    ['no end', { status: 201, body: '{"request_uri":"urn:x"}' }],
    ['HTML', { status: 201, body: '<html>', contentType: 'text/html' }],
    ['JSON cut short', { status: 201, body: '{"request_uri":"urn:x"' }],
    ['HTML and 400', { status: 400, body: '<html>', contentType: 'text/html' }],
    [
      'over 1 MiB',
      {
        status: 201,
        body: `{"request_uri":"urn:x","expires_in":60,"p":"${'x'.repeat(1_048_576)}"}`,
      },
    ],
  ])('that is answered with %s ends on a page', async (_, answer) => {
    service.idp.pushAnswer = answer;
    await expectNoFrontChannel('token_invalid', 502);
  });

  it('is not sent on by a redirect', async () => {
    const location = `${service.idp.issuer}/elsewhere`;
    service.idp.pushAnswer = { status: 307, body: '', headers: { location } };
    await expectNoFrontChannel('token_invalid', 502);
    expect(service.idp.requests.map(({ path }) => path)).not.toContain('/elsewhere');
  });

  it('is in the log with the reason alone', () => {
    const said = service.running.stderr();
    expect(said).toContain('"event":"sign_in_failed"');
    for (const { form } of pushes(service))
      for (const name of ['state', 'nonce', 'code_challenge'])
        expect(said).not.toContain(form.get(name));
    expect(said).not.toContain(WEB_CLIENT_SECRET);
  });

  it('starts nothing for what no person opens', async () => {
    const before = pushes(service).length;
    const headers = { ...NAVIGATION, 'sec-fetch-mode': 'cors' };
    expect((await exchange(`${service.url}/login`, { headers })).status).toBe(401);
    expect(pushes(service)).toHaveLength(before);
  });
});

describe('Whether parameters are pushed', () => {
  let service: Service | undefined;
  afterEach(() => service?.stop());

  it.each<[string, Mode | undefined, Readonly<Record<string, unknown>>]>([
    ['auto, when the metadata asks for it', 'auto', REQUIRED],
    ['nothing configured, when the metadata asks for it', undefined, REQUIRED],
    ['always', 'always', {}],
  ])('%s: they are', async (_, mode, metadata) => {
    service = await start(mode, metadata);
    const received = await login(service);
    expect([...sentTo(received).keys()].toSorted()).toEqual(['client_id', 'request_uri']);
    expect(service.idp.counts.par).toBe(1);
  });

  it.each<[string, Mode | undefined, Readonly<Record<string, unknown>>]>([
    ['auto, when the metadata only offers it', 'auto', {}],
    [
      'auto, when the metadata says false',
      'auto',
      { require_pushed_authorization_requests: false },
    ],
    ['nothing configured', undefined, {}],
    ['never, although the metadata asks for it', 'never', REQUIRED],
  ])('%s: they are not', async (_, mode, metadata) => {
    service = await start(mode, metadata);
    const received = await login(service);
    expect(sentTo(received).has('request_uri')).toBe(false);
    expect(sentTo(received).get('code_challenge_method')).toBe('S256');
    await expectSignsIn(service, new Browser());
    expect(service.idp.counts.par).toBe(0);
  });
});

describe('An IdP without an endpoint for it', () => {
  const NONE = { pushed_authorization_request_endpoint: undefined };
  const isReady = async ({ url }: Service) => (await exchange(`${url}/readyz`)).status === 200;
  let service: Service | undefined;
  afterEach(() => service?.stop());

  it.each<[string, Mode, Readonly<Record<string, unknown>>, string]>([
    ['always', 'always', NONE, 'pushedAuthorization: always'],
    [
      'auto, and it asks for it',
      'auto',
      { ...NONE, ...REQUIRED },
      'require_pushed_authorization_requests',
    ],
  ])(
    '%s: not ready, and a sign-in ends on a page; the log says why',
    async (_, mode, metadata, why) => {
      service = await start(mode, metadata);
      const received = await login(service);
      expectFailurePage(received, 'idp_unreachable', 503);
      expect(received.setCookies).toEqual([]);
      expect(await isReady(service)).toBe(false);
      const line = service.running
        .stderr()
        .split('\n')
        .find((each) => each.includes('pushed_authorization_request_endpoint'));
      expect(line).toContain('SP_IDP_PROTOCOL');
      expect(line).toContain(why);
    },
  );

  it.each<Mode>(['auto', 'never'])('%s: ready, and people sign in', async (mode) => {
    service = await start(mode, NONE);
    await expectSignsIn(service, new Browser());
    expect(await isReady(service)).toBe(true);
  });
});

describe('A web app with a private key', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  it('pushes by an assertion of its own, and needs another for the code', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const path = join(folder.path, 'key');
    writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const service = await startHostedService({ OIDC_CLIENT_SECRET_FILE: '' }, [], undefined, [
      ...lines('always'),
      '      clientAuthentication: private_key_jwt',
      `      privateKeyLocation: ${path}`,
    ]);
    const { login: received } = await openSignIn(service, '/');
    await expectSignsIn(service, new Browser());
    const jwks = JSON.parse((await exchange(`${service.url}/auth/jwks`)).body) as JSONWebKeySet;
    await service.stop();
    const assertions = service.idp.requests
      .filter(({ path: asked }) => asked === '/par' || asked === '/token')
      .map(({ form }) => form.get('client_assertion') ?? '');
    const keys = createLocalJWKSet(jwks);
    const claims = await Promise.all(assertions.map((each) => jwtVerify(each, keys)));
    expect(claims).toHaveLength(3);
    expect(new Set(claims.map(({ payload }) => payload.jti)).size).toBe(3);
    expect(claims.map(({ payload }) => payload.aud)).toEqual(Array(3).fill(service.idp.issuer));
    expect(received.location).not.toContain('assertion');
  });
});
