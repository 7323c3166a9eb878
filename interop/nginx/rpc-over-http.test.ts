import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { IdentityService } from '@sallyport/protocol/protobuf';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange, type Received } from '../../conformance/wire/exchange.ts';
import type { Answer } from './backend.ts';
import { type Gate, type Platform, startGate, startPlatform } from './gate.ts';
import { NGINX } from './nginx.ts';

const PATH = '/cloudidl.usage.UsageService/GetUsage';
const OPEN_PATH = '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig';

/** Headers of the two protocols that are plain HTTP requests, as their clients send them. */
const CONNECT = { 'content-type': 'application/proto', 'connect-protocol-version': '1' };
const CONNECT_WITHOUT_VERSION = { 'content-type': 'application/proto' };
const CONNECT_STREAM = {
  'content-type': 'application/connect+proto',
  'connect-protocol-version': '1',
};
const GRPC_WEB = { 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1' };
const GRPC_WEB_TEXT = { 'content-type': 'application/grpc-web-text' };

function post(
  gate: Gate,
  headers: Readonly<Record<string, string>>,
  path: string = PATH,
): Promise<Received> {
  return exchange(gate.url + path, { method: 'POST', headers, body: 'message' });
}

/** What a Connect client makes of an answer. */
function connectCode({ status, headers, body }: Received): readonly [number, string] {
  expect(headers['content-type']).toBe('application/json');
  return [status, JSON.parse(body).code];
}

/** What a gRPC-Web client makes of an answer. */
function grpcWebStatus({ status, headers, body }: Received): string | undefined {
  expect([status, headers['content-type'], body]).toEqual([200, 'application/grpc-web', '']);
  return String(headers['grpc-status']);
}

describe.skipIf(NGINX.isLeftOut)('nginx: Connect and gRPC-Web in front of the server', () => {
  let platform: Platform;
  let session: Readonly<Record<string, string>>;
  beforeAll(async () => {
    platform = await startPlatform();
    const visitor = new Browser();
    await platform.signIn(visitor);
    session = { cookie: `core_session=${visitor.cookie('localhost', 'core_session')}` };
  });
  afterAll(() => platform.stop());
  beforeEach(() => void platform.arrived());

  it.each([
    ['Connect', CONNECT],
    ['Connect without its version', CONNECT_WITHOUT_VERSION],
    ['a Connect stream', CONNECT_STREAM],
    ['gRPC-Web', GRPC_WEB],
    ['gRPC-Web as text', GRPC_WEB_TEXT],
  ])('%s: an admitted call reaches the HTTP address of the service', async (_, headers) => {
    const evil = { 'x-user-subject': 'evil' };
    expect((await post(platform, { ...headers, ...session, ...evil })).status).toBe(200);
    expect(platform.last('usage')).toMatchObject({ path: PATH, method: 'POST', body: 'message' });
    expect(platform.last('usage').headers).toMatchObject({
      'x-user-subject': 'ada',
      'content-type': headers['content-type'],
    });
    expect(platform.arrived()).toEqual([`usage ${PATH}`]);
  });

  it.each([
    ['Connect', CONNECT],
    ['Connect without its version', CONNECT_WITHOUT_VERSION],
    ['a Connect stream', CONNECT_STREAM],
  ])(
    '%s: a call without a credential gets 401 with the error JSON of the protocol',
    async (_, headers) => {
      const refused = await post(platform, headers);
      expect(connectCode(refused)).toEqual([401, 'unauthenticated']);
      expect(refused.headers['cache-control']).toBe('no-store');
      expect(platform.arrived()).toEqual([]);
    },
  );

  it.each([
    ['gRPC-Web', GRPC_WEB],
    ['gRPC-Web as text', GRPC_WEB_TEXT],
  ])(
    '%s: a call without a credential gets status 16 in the headers, HTTP 200',
    async (_, headers) => {
      expect(grpcWebStatus(await post(platform, headers))).toBe('16');
      expect(platform.arrived()).toEqual([]);
    },
  );

  it('a known caller who may not enter: permission_denied, and status 7', async () => {
    const crossSite = { ...session, origin: 'https://evil.example' };
    expect(connectCode(await post(platform, { ...CONNECT, ...crossSite }))).toEqual([
      403,
      'permission_denied',
    ]);
    expect(grpcWebStatus(await post(platform, { ...GRPC_WEB, ...crossSite }))).toBe('7');
    expect(platform.arrived()).toEqual([]);
  });

  it.each([
    ['no protocol of RPC', { 'content-type': 'application/json' }],
    ['gRPC over HTTP/1.1, which is none', { 'content-type': 'application/grpc' }],
    ['a type that only begins like one', { 'content-type': 'application/grpc-webby' }],
  ])('%s: a problem document', async (_, headers) => {
    const refused = await post(platform, headers);
    expect([refused.status, refused.headers['content-type']]).toEqual([
      401,
      'application/problem+json',
    ]);
  });

  it.each([
    ['Connect', CONNECT],
    ['gRPC-Web', GRPC_WEB],
  ])('AuthMetadataService is unprotected over %s: no check is asked', async (_, headers) => {
    platform.backend('admin').seen.length = 0;
    expect((await post(platform, headers, OPEN_PATH)).status).toBe(200);
    expect(platform.backend('admin').seen.map(({ path }) => path)).toEqual([OPEN_PATH]);
  });

  it.each([
    `${OPEN_PATH}/more`,
    `/${OPEN_PATH}`,
    `/%66lyteidl2.auth.AuthMetadataService/GetPublicClientConfig`,
    '/flyteidl2.auth.AuthMetadataService/../flyteidl.service.AdminService/ListProjects',
    '/flyteidl2.auth.AuthMetadataService/',
    '/flyteidl2.auth.AuthMetadataService',
  ])('no other spelling is open: %s', async (path) => {
    expect(connectCode(await post(platform, CONNECT, path))).toEqual([401, 'unauthenticated']);
    expect(platform.arrived()).toEqual([]);
  });
});

/** The clients SDKs are made from. */
const CLIENTS: readonly (readonly [name: string, open: (gate: Gate) => Transport])[] = [
  ['gRPC', ({ http2 }) => createGrpcTransport({ baseUrl: `http://${http2}` })],
  [
    'Connect over HTTP/2',
    ({ http2 }) => createConnectTransport({ baseUrl: `http://${http2}`, httpVersion: '2' }),
  ],
  [
    'Connect over HTTP/1.1',
    ({ url }) => createConnectTransport({ baseUrl: loopback(url), httpVersion: '1.1' }),
  ],
  [
    'gRPC-Web over HTTP/1.1',
    ({ url }) => createGrpcWebTransport({ baseUrl: loopback(url), httpVersion: '1.1' }),
  ],
];

/** `localhost` is listened for on IPv4 only. */
function loopback(url: string): string {
  return url.replace('localhost', '127.0.0.1');
}

describe.skipIf(NGINX.isLeftOut)('nginx: what real clients make of a refusal', () => {
  it.each(CLIENTS)('%s', async (_, open) => {
    let said = 401;
    const gate = await startGate((_seen, res) => res.writeHead(said).end());
    onTestFinished(() => gate.stop());
    const client = createClient(IdentityService, open(gate));
    const codes: Code[] = [];
    for (said of [401, 403, 503]) {
      codes.push(
        await client.userInfo({}).then(
          () => expect.unreachable('the call succeeded'),
          (error: unknown) => ConnectError.from(error).code,
        ),
      );
    }
    expect(codes).toEqual([Code.Unauthenticated, Code.PermissionDenied, Code.Unavailable]);
    expect(gate.arrived()).toEqual([]);
  });
});

describe.skipIf(NGINX.isLeftOut)(
  'nginx: Connect and gRPC-Web, when the check decides nothing',
  () => {
    it.each([
      ['a check that answers 500', ((_, res) => res.writeHead(500).end()) satisfies Answer],
      ['a check that answers 503', ((_, res) => res.writeHead(503).end()) satisfies Answer],
      ['a check that redirects', ((_, res) => res.writeHead(302).end()) satisfies Answer],
      ['a check that breaks off', ((_, res) => void res.destroy()) satisfies Answer],
    ])('%s: unavailable, and no backend is asked', async (_, answer) => {
      const gate = await startGate(answer);
      onTestFinished(() => gate.stop());
      expect(connectCode(await post(gate, CONNECT))).toEqual([503, 'unavailable']);
      expect(grpcWebStatus(await post(gate, GRPC_WEB))).toBe('14');
      expect(gate.arrived()).toEqual([]);
    });

    it('a service that is down: unavailable, to the admitted alone', async () => {
      const gate = await startGate((seen, res) =>
        res.writeHead(seen.headers.authorization === 'good' ? 200 : 401).end(),
      );
      onTestFinished(() => gate.stop());
      await gate.backend('usage').close();
      const good = { authorization: 'good' };
      expect(connectCode(await post(gate, { ...CONNECT, ...good }))).toEqual([502, 'unavailable']);
      expect(grpcWebStatus(await post(gate, { ...GRPC_WEB, ...good }))).toBe('14');
      expect(connectCode(await post(gate, CONNECT))).toEqual([401, 'unauthenticated']);
    });
  },
);
