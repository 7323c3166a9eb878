import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { callGrpc } from '../wire/grpc.ts';
import { type Plane, type Service, startHostedService, startPlane } from '../wire/platform.ts';
import { readFields, readFrames } from '../wire/protobuf.ts';
import { configure, linesOf, ready, waitForLines } from '../wire/reloads.ts';
import { callConnect, callConnectByGet, callConnectPacked, callGrpcWeb } from '../wire/rpc.ts';

const PACKAGES = ['flyteidl.service', 'flyteidl2.auth'] as const;
const CONFIG = 'AuthMetadataService/GetPublicClientConfig';
const METADATA = 'AuthMetadataService/GetOAuth2Metadata';
const REST_CONFIG = '/config/v1/flyte_client';
const REST_METADATA = '/.well-known/oauth-authorization-server';
const SNAKE = { headers: { accept: 'application/json' } };

/** Numbers of the fields of `PublicClientAuthConfigResponse`, in the order they are compared in. */
const FIELDS = [1, 2, 4, 5, 6];

/** What each way to ask says: client id, redirect URI, header, endpoint, audience, and the scopes. */
async function clientConfigs(url: string): Promise<readonly (readonly string[])[]> {
  const fromProtobuf = (message: Buffer | undefined) => {
    const fields = readFields(message ?? Buffer.alloc(0));
    return [...FIELDS.map((number) => fields.get(number)?.[0] ?? ''), ...(fields.get(3) ?? [])];
  };
  const fromJson = (text: string, spell: (name: string) => string) => {
    const body = JSON.parse(text) as Record<string, string> & { readonly scopes?: string[] };
    const texts = [
      'client_id',
      'redirect_uri',
      'authorization_metadata_key',
      'service_http_endpoint',
      'audience',
    ];
    return [...texts.map((name) => body[spell(name)] ?? ''), ...(body.scopes ?? [])];
  };
  const camelCase = (name: string) =>
    name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const rpcs = await Promise.all(
    PACKAGES.map(async (name) => {
      const rpc = `${url}/${name}.${CONFIG}`;
      const packed = await callConnectPacked(rpc);
      const web = readFrames(Buffer.from(await (await callGrpcWeb(rpc)).arrayBuffer()));
      return [
        fromProtobuf((await callGrpc(rpc)).messages[0]),
        fromJson((await callConnect(rpc)).body, camelCase),
        fromJson((await callConnectByGet(rpc)).body, camelCase),
        fromProtobuf(Buffer.from(await packed.arrayBuffer())),
        fromProtobuf(web[0]?.content),
      ];
    }),
  );
  const rest = [
    fromJson((await exchange(url + REST_CONFIG, SNAKE)).body, (name) => name),
    fromJson((await exchange(url + REST_CONFIG)).body, camelCase),
  ];
  return [...rpcs.flat(), ...rest];
}

describe('The metadata service of serve', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  it('GetPublicClientConfig says the same over REST, gRPC, gRPC-Web and Connect, in both packages, without a credential', async () => {
    const said = await clientConfigs(service.url);
    expect(said).toHaveLength(12);
    for (const one of said)
      expect(one).toEqual([
        'cli-client',
        'http://localhost:53593/callback',
        'core-authorization',
        service.url,
        '',
        'all',
      ]);
  });

  it.each(PACKAGES)(
    '%s GetOAuth2Metadata gives the token endpoint over gRPC and Connect, without a credential',
    async (name) => {
      const rpc = `${service.url}/${name}.${METADATA}`;
      const { issuer } = service.idp;
      const fields = readFields((await callGrpc(rpc)).messages[0] ?? Buffer.alloc(0));
      expect([1, 2, 3, 7].map((number) => fields.get(number))).toEqual([
        [issuer],
        [`${issuer}/authorize`],
        [`${issuer}/token`],
        [`${issuer}/jwks`],
      ]);
      for (const answer of [await callConnect(rpc), await callConnectByGet(rpc)])
        expect(JSON.parse(answer.body)).toMatchObject({ issuer, tokenEndpoint: `${issuer}/token` });
    },
  );

  it('the document over REST keeps the public members of the IdP’s that have no field, in snake_case alone when asked for JSON', async () => {
    const { body, headers } = await exchange(service.url + REST_METADATA, SNAKE);
    const { issuer } = service.idp;
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toMatchObject({
      issuer,
      token_endpoint: `${issuer}/token`,
      revocation_endpoint: `${issuer}/revoke`,
      end_session_endpoint: `${issuer}/end_session`,
    });
    expect(body).not.toContain('tokenEndpoint');
  });

  it('a client that reads camelCase finds it beside snake_case', async () => {
    const { body } = await exchange(service.url + REST_METADATA);
    const endpoint = `${service.idp.issuer}/token`;
    expect(JSON.parse(body)).toMatchObject({ token_endpoint: endpoint, tokenEndpoint: endpoint });
  });

  it.each([REST_METADATA, REST_CONFIG, '/.well-known/openid-configuration'])(
    '%s answers HEAD without a body, and POST with 405 and what is allowed',
    async (path) => {
      const head = await exchange(service.url + path, { method: 'HEAD' });
      expect([head.status, head.body]).toEqual([200, '']);
      const post = await exchange(service.url + path, { method: 'POST', body: '{}' });
      expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
    },
  );

  it('a bad credential beside the question changes nothing', async () => {
    const headers = { 'core-authorization': 'Bearer no-token', cookie: 'core_session=1.x' };
    const rpc = `${service.url}/flyteidl2.auth.${CONFIG}`;
    expect((await callGrpc(rpc, { headers })).status).toBe(0);
    expect((await callConnect(rpc, headers)).status).toBe(200);
    expect((await exchange(service.url + REST_CONFIG, { headers })).status).toBe(200);
  });
});

describe('Each setting of auth.appAuth.thirdPartyConfig.flyteClient changes the answer over REST, gRPC and Connect', () => {
  const inFile = (line: string) => [
    'auth:',
    '  appAuth:',
    '    thirdPartyConfig:',
    '      flyteClient:',
    `        ${line}`,
  ];
  const HONEST = ['cli-client', 'http://localhost:53593/callback', 'core-authorization', '', 'all'];
  const honestBut = (at: number, ...values: string[]) => HONEST.toSpliced(at, 1, ...values);

  let service: Service;
  beforeAll(async () => {
    service = await startHostedService({}, [], undefined, ['session: {idleTimeout: 12h}']);
  });
  afterAll(() => service.stop());

  it.each<readonly [string, readonly string[] | undefined, readonly string[]]>([
    // Its deployment variable wins over the file.
    ['clientId', undefined, ['other', ...HONEST.slice(1)]],
    [
      'redirectUri',
      inFile('redirectUri: http://localhost:53594/callback'),
      honestBut(1, 'http://localhost:53594/callback'),
    ],
    ['scopes', inFile('scopes: [all, more]'), honestBut(4, 'all', 'more')],
    [
      'audience',
      inFile('audience: https://elsewhere.example'),
      honestBut(3, 'https://elsewhere.example'),
    ],
    [
      'auth.grpcAuthorizationHeader',
      ['auth:', '  grpcAuthorizationHeader: other-header'],
      honestBut(2, 'other-header'),
    ],
  ])('%s', async (_, file, expected) => {
    const { url } = file === undefined ? await startOther() : await reloaded(file);
    // The endpoint is the public URL, which is another one each time.
    for (const said of await clientConfigs(url))
      expect(said.filter((text) => text !== url)).toEqual(expected);
  });

  async function startOther(): Promise<Service> {
    const other = await startHostedService({ CLI_CLIENT_ID: 'other' });
    onTestFinished(() => other.stop());
    return other;
  }

  async function reloaded(file: readonly string[]): Promise<Service> {
    await ready(service);
    const loaded = linesOf(service, 'configuration_loaded').length;
    configure(service, file);
    service.running.signal('SIGHUP');
    await waitForLines(service, 'configuration_loaded', loaded + 1);
    return service;
  }
});

describe('Behind the ingress of up', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane();
  });
  afterAll(() => plane.stop());

  it.each(PACKAGES)(
    '%s AuthMetadataService is open: gRPC, Connect and gRPC-Web get an answer, not 401',
    async (name) => {
      const rpc = `${plane.url}/${name}.${CONFIG}`;
      expect((await callGrpc(rpc)).status).toBe(0);
      expect((await callConnect(rpc)).status).toBe(200);
      expect((await callConnectPacked(rpc)).status).toBe(200);
      const web = await callGrpcWeb(rpc);
      expect([web.status, web.headers.get('grpc-status') ?? '0']).toEqual([200, '0']);
    },
  );

  it.each([REST_METADATA, REST_CONFIG, '/.well-known/openid-configuration'])(
    '%s is open',
    async (path) => {
      expect((await exchange(plane.url + path)).status).toBe(200);
    },
  );

  it.each(PACKAGES)(
    '%s IdentityService is not: it is refused in the caller’s protocol',
    async (name) => {
      const rpc = `${plane.url}/${name}.IdentityService/UserInfo`;
      expect((await callGrpc(rpc)).status).toBe(16);
      const connect = await callConnect(rpc);
      expect([connect.status, JSON.parse(connect.body)]).toMatchObject([
        401,
        { code: 'unauthenticated' },
      ]);
      expect((await callGrpcWeb(rpc)).headers.get('grpc-status')).toBe('16');
    },
  );
});
