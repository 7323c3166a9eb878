import { type ScriptedServer, startScriptedServer } from '@sallyport/testing/idp/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseEndpoint } from '../settings/endpoint.ts';
import { createMetadataClient, type MetadataClient } from './create-metadata-client.ts';

const V2 = '/flyteidl2.auth.AuthMetadataService';
const V1 = '/flyteidl.service.AuthMetadataService';
const DOCUMENT = '/.well-known/openid-configuration';
const PUBLIC_CLIENT = { clientId: 'native', authorizationMetadataKey: 'core-authorization' };

let server: ScriptedServer;
let idp: ScriptedServer;
beforeEach(async () => {
  [server, idp] = await Promise.all([startScriptedServer(), startScriptedServer()]);
  idp.script(DOCUMENT, { body: { issuer: idp.origin, token_endpoint: `${idp.origin}/token` } });
});
afterEach(() => Promise.all([server.close(), idp.close()]));

const oauth2 = () => ({ issuer: idp.origin, tokenEndpoint: `${idp.origin}/token` });

function create(limits?: {
  readonly timeoutMs: number;
  readonly bodyMaxBytes: number;
}): MetadataClient {
  const endpoint = parseEndpoint(server.origin, false);
  if (!endpoint.ok) throw new Error(endpoint.error);
  return createMetadataClient({
    endpoint: endpoint.value,
    fetch,
    ...(limits === undefined ? {} : { limits }),
  });
}

function serve(service: string): void {
  server.script(`${service}/GetOAuth2Metadata`, { body: oauth2() });
  server.script(`${service}/GetPublicClientConfig`, { body: PUBLIC_CLIENT });
}

describe('platform metadata', () => {
  it('is asked for by both calls of AuthMetadataService, without any credential', async () => {
    serve(V2);
    expect(await create().read()).toMatchObject({
      clientId: 'native',
      tokenEndpoint: `${idp.origin}/token`,
      authorizationHeader: 'core-authorization',
    });
    expect(server.requests.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      `POST ${V2}/GetOAuth2Metadata`,
      `POST ${V2}/GetPublicClientConfig`,
    ]);
    for (const { headers, body } of server.requests) {
      expect(headers['content-type']).toBe('application/json');
      expect(headers['connect-protocol-version']).toBe('1');
      expect(
        headers.authorization ?? headers['core-authorization'] ?? headers.cookie,
      ).toBeUndefined();
      expect(body).toBe('{}');
    }
  });

  it('is asked for once, also by calls at the same time', async () => {
    serve(V2);
    const client = create();
    await Promise.all([client.read(), client.read()]);
    await client.read();
    expect(server.requests).toHaveLength(2);
  });

  it('is asked for again after a failure', async () => {
    const client = create();
    await expect(client.read()).rejects.toThrow('SP_PLATFORM_PROTOCOL');
    serve(V2);
    expect((await client.read()).clientId).toBe('native');
  });

  it.each([
    ['404', { status: 404 }],
    ['405', { status: 405 }],
    ['Connect’s unimplemented', { status: 400, body: { code: 'unimplemented' } }],
  ])('is asked of the older service when the newer one answers %s', async (_, answer) => {
    server.script(`${V2}/GetOAuth2Metadata`, answer);
    server.script(`${V2}/GetPublicClientConfig`, answer);
    serve(V1);
    expect((await create().read()).clientId).toBe('native');
  });

  it('is asked for by REST when there is no service', async () => {
    server.script('/.well-known/oauth-authorization-server', {
      body: { issuer: idp.origin, token_endpoint: `${idp.origin}/token` },
    });
    server.script('/config/v1/flyte_client', { body: { client_id: 'native' } });
    expect((await create().read()).clientId).toBe('native');
  });

  it('that is not served is reported with what to look at', async () => {
    await expect(create().read()).rejects.toThrow(/publishes no sign-in metadata.*useAuth/);
  });
});

describe('the issuer that a platform names', () => {
  it('is asked once, and what it says itself stands', async () => {
    serve(V2);
    const client = create();
    await client.read();
    await client.read();
    expect(idp.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET ${DOCUMENT}`,
    ]);
    for (const { headers } of idp.requests) expect(headers.authorization).toBeUndefined();
  });

  it('RFC 9700 section 4.4: is not given a token endpoint that is not its own (mix-up)', async () => {
    serve(V2);
    server.script(`${V2}/GetOAuth2Metadata`, {
      body: { ...oauth2(), tokenEndpoint: `${server.origin}/token` },
    });
    const failure = create().read();
    await expect(failure).rejects.toThrow(/token_endpoint that is not the one of its issuer/);
    await expect(failure).rejects.toMatchObject({ code: 'SP_PLATFORM_PROTOCOL' });
  });

  it.each([
    [true, true],
    [false, false],
    [undefined, false],
    ['true', false],
    [1, false],
  ])(
    'RFC 9207 section 3: says by %j in its document whether its answers name it: %s',
    async (said, isIssuerNamed) => {
      serve(V2);
      idp.script(DOCUMENT, {
        body: {
          issuer: idp.origin,
          token_endpoint: `${idp.origin}/token`,
          authorization_response_iss_parameter_supported: said,
        },
      });
      expect((await create().read()).isIssuerNamed).toBe(isIssuerNamed);
    },
  );

  it('confirms nothing when its document names another issuer', async () => {
    serve(V2);
    idp.script(DOCUMENT, {
      body: { issuer: 'https://other.example', token_endpoint: `${idp.origin}/token` },
    });
    await expect(create().read()).rejects.toThrow(/cannot be confirmed.*admin\.tokenUrl/);
  });

  it('that does not answer is reported as the outage it is', async () => {
    serve(V2);
    await idp.close();
    await expect(create().read()).rejects.toMatchObject({ code: 'SP_IDP_UNREACHABLE' });
    idp = await startScriptedServer();
  });

  it('is not asked when the token endpoint is configured', async () => {
    serve(V2);
    const endpoint = parseEndpoint(server.origin, false);
    if (!endpoint.ok) throw new Error(endpoint.error);
    await createMetadataClient({ endpoint: endpoint.value, fetch, confirms: false }).read();
    expect(idp.requests).toEqual([]);
  });
});

describe('a wrong answer', () => {
  it.each([
    ['a redirect', { status: 302, headers: { location: 'https://p.example/login?state=x' } }],
    ['a page', { status: 200, body: '<html>Sign in</html>' }],
    ['401', { status: 401 }],
    ['403', { status: 403 }],
  ])('of %s says that discovery is behind sign-in', async (_, answer) => {
    server.script(`${V2}/GetOAuth2Metadata`, answer);
    server.script(`${V2}/GetPublicClientConfig`, answer);
    const failure = create().read();
    await expect(failure).rejects.toThrow(/discovery needs no token, but .* is behind sign-in/);
    await expect(failure).rejects.toMatchObject({ code: 'SP_PLATFORM_PROTOCOL' });
    await expect(failure).rejects.not.toThrow('state=x');
  });

  it('that redirects is not followed', async () => {
    const location = `${server.origin}/elsewhere`;
    server.script(`${V2}/GetOAuth2Metadata`, { status: 307, headers: { location } });
    await expect(create().read()).rejects.toThrow(`answered 307 to ${location}`);
    expect(server.requests.some(({ path }) => path === '/elsewhere')).toBe(false);
  });

  it.each([
    ['503', { status: 503, headers: { 'retry-after': '7' } }],
    ['429', { status: 429, headers: { 'retry-after': '7' } }],
  ])('of %s is an outage with its Retry-After', async (_, answer) => {
    server.script(`${V2}/GetOAuth2Metadata`, answer);
    server.script(`${V2}/GetPublicClientConfig`, answer);
    await expect(create().read()).rejects.toMatchObject({
      code: 'SP_PLATFORM_UNREACHABLE',
      retryAfterSeconds: 7,
    });
  });

  it.each([
    [
      'something else',
      { body: 'plain', headers: { 'content-type': 'text/plain' } },
      'other than JSON',
    ],
    ['broken JSON', { body: '{', headers: { 'content-type': 'application/json' } }, 'broken JSON'],
    [
      'an http endpoint',
      { body: { issuer: 'https://idp.example', tokenEndpoint: 'http://idp.example' } },
      'neither https',
    ],
  ])('of %s is reported', async (_, answer, problem) => {
    serve(V2);
    server.script(`${V2}/GetOAuth2Metadata`, answer);
    await expect(create().read()).rejects.toThrow(problem);
  });

  it('that is too large is refused', async () => {
    serve(V2);
    const limits = { timeoutMs: 15_000, bodyMaxBytes: 10 };
    await expect(create(limits).read()).rejects.toThrow('sends too much');
  });

  it('that does not come is an outage', async () => {
    serve(V2);
    const client = create();
    await server.close();
    await expect(client.read()).rejects.toMatchObject({ code: 'SP_PLATFORM_UNREACHABLE' });
  });
});
