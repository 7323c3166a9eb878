import { request as requestHttp } from 'node:http';
import { canonicalHeaderName, HOP_BY_HOP_HEADERS } from '@sallyport/protocol';
import {
  type Echo,
  echo,
  headerValues,
  startBackend,
  startGrpcBackend,
} from '@sallyport/testing/gateway/backends';
import { collect, dialHttp2, grpcCall, request2 } from '@sallyport/testing/gateway/http2-client';
import { ADMITTED, startGateway } from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import { talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it } from 'vitest';

/** What the gateway itself says to a backend about the connection between the two. */
const OWN_HTTP: readonly string[] = ['connection', 'transfer-encoding'];

/** One value of a hop-by-hop field that a parser takes; the framing fields have none to spare. */
const SENDABLE = [...HOP_BY_HOP_HEADERS].filter(
  (name) => name !== 'transfer-encoding' && name !== 'connection' && name !== 'upgrade',
);

function namesOf(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
}

/** Sends a request written by hand, and resolves to what the backend saw of it. */
async function echoed(port: number, path: string, lines: readonly string[]): Promise<Echo> {
  const head = ['host: a', 'core-authorization: Bearer good', ...lines].join('\r\n');
  const answer = await talk(port, `GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  return JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as Echo;
}

describe('RFC 9110 7.6.1: requests lose hop-by-hop fields', () => {
  it('HTTP/1.1 to HTTP/1.1, and those that Connection names', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const seen = await echoed(port, '/x', [
      'Connection: close, X-Named, x-also-named',
      'X-Named: hop',
      'X-Also-Named: hop',
      'X-Kept: end',
      'TE: trailers',
      ...SENDABLE.map((name) => `${name}: hop`),
    ]);
    const names = namesOf(seen.rawHeaders);
    expect(names).toContain('x-kept');
    for (const name of [...SENDABLE, 'upgrade', 'x-named', 'x-also-named'])
      expect(names).not.toContain(name);
    expect(headerValues(seen, 'connection').join(',')).not.toMatch(/named|close/i);
  });

  it('HTTP/2 to HTTP/1.1, pseudo-headers too', async () => {
    const { origin } = await startGateway({ http: await startBackend(echo) });
    const { body } = await request2(dialHttp2(origin), {
      ':path': '/x',
      ...ADMITTED,
      te: 'trailers',
      trailer: 'x-t',
      'proxy-authorization': 'Basic eDp5',
      'x-kept': 'end',
    });
    const names = namesOf((JSON.parse(body) as Echo).rawHeaders);
    expect(names).toContain('x-kept');
    expect(names.filter((name) => name.startsWith(':'))).toEqual([]);
    expect(
      names.filter((name) => HOP_BY_HOP_HEADERS.has(name) && !OWN_HTTP.includes(name)),
    ).toEqual([]);
  });

  it('HTTP/2 to HTTP/2: a gRPC backend gets te: trailers and nothing else of the kind', async () => {
    const raws = signal<readonly string[]>();
    const grpc = await startGrpcBackend((stream, _headers, raw) => {
      raws.set(raw);
      stream.respond({ 'grpc-status': '0' }, { endStream: true });
    });
    const { origin } = await startGateway({ grpc });
    const extra = { trailer: 'x-t', 'proxy-authorization': 'Basic eDp5', 'x-kept': 'end' };
    const stream = dialHttp2(origin).request(grpcCall('/pkg.Unary/Call', extra));
    stream.end();
    await collect(stream);
    const raw = await raws.seen;
    const names = namesOf(raw);
    expect(names).toContain('x-kept');
    expect(names.filter((name) => HOP_BY_HOP_HEADERS.has(name))).toEqual(['te']);
    expect(names.filter((name) => name.startsWith(':')).sort()).toEqual([
      ':authority',
      ':method',
      ':path',
      ':scheme',
    ]);
    expect(raw[raw.indexOf(':authority') + 1]).toBe('flows.example.org');
  });
});

describe('RFC 9110 7.6.1: answers lose hop-by-hop fields', () => {
  const RESPONSE_FIELDS = [
    ['Connection', 'keep-alive, X-Named'],
    ['X-Named', 'hop'],
    ['Keep-Alive', 'timeout=1'],
    ['Proxy-Authenticate', 'Basic'],
    ['Proxy-Connection', 'keep-alive'],
    ['Trailer', 'x-t'],
    ['Upgrade', 'h2c'],
    ['X-Kept', 'end'],
  ];

  it.each(['http/1', 'http/2'])('of an HTTP/1.1 backend, to an %s client', async (version) => {
    const http = await startBackend((_request, response) => {
      response.writeHead(200, RESPONSE_FIELDS.flat());
      response.end('x');
    });
    const { origin, port } = await startGateway({ http });
    const names: string[] = [];
    if (version === 'http/2') {
      const { headers } = await request2(dialHttp2(origin), { ':path': '/open' });
      names.push(...Object.keys(headers ?? {}));
    } else {
      const answer = await talk(port, 'GET /open HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      const [head = ''] = answer.split('\r\n\r\n');
      names.push(...head.split('\r\n').map((line) => line.replace(/:.*/, '').toLowerCase()));
    }
    expect(names).toContain('x-kept');
    for (const name of ['x-named', 'keep-alive', 'proxy-authenticate', 'trailer', 'upgrade'])
      expect(names).not.toContain(name);
    expect(names).not.toContain('proxy-connection');
  });

  it('of a gRPC backend, in headers and trailers', async () => {
    const grpc = await startGrpcBackend((stream) => {
      stream.respond(
        { 'content-type': 'application/grpc', trailer: 'x-t', 'proxy-authenticate': 'Basic' },
        { waitForTrailers: true },
      );
      stream.once('wantTrailers', () =>
        stream.sendTrailers({ 'grpc-status': '0', 'proxy-authenticate': 'Basic' }),
      );
      stream.end('x');
    });
    const { origin } = await startGateway({ grpc });
    const { headers, trailers } = await request2(
      dialHttp2(origin),
      grpcCall('/pkg.Unary/Call'),
      '',
    );
    expect(headers).toMatchObject({ ':status': 200, 'content-type': 'application/grpc' });
    expect(Object.keys(headers ?? {})).not.toContain('trailer');
    expect(Object.keys(headers ?? {})).not.toContain('proxy-authenticate');
    expect(Object.keys(trailers ?? {})).toEqual(['grpc-status']);
  });
});

describe('identity headers', () => {
  const SPELLINGS = [
    'X-User-Subject',
    'x-user-subject',
    'X_User_Subject',
    'X-User_Subject',
    'X_USER_SUBJECT',
    'X-User-Email',
    'X-User-Identity-Type',
    'X-User-Claim-Groups',
    'x_user_claim_groups',
  ];

  it('cannot be taken away through Connection', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const named = ['X-User-Subject', 'x-user-email', 'X-Forwarded-For', 'x-request-id'];
    const seen = await echoed(port, '/x', [`Connection: close, ${named.join(', ')}`]);
    expect(headerValues(seen, 'x-user-subject')).toEqual(['ada']);
    expect(headerValues(seen, 'x-user-email')).toEqual(['']);
    expect(headerValues(seen, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(headerValues(seen, 'x-request-id')).toHaveLength(1);
  });

  it.each([
    ['a protected route', '/x', ['ada', '']],
    ['an unprotected route', '/open', []],
    ['a route that forwards every credential', '/login', []],
  ])('of a client reach no backend over HTTP/1.1 on %s', async (_title, path, own) => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const seen = await echoed(port, path, [
      'connection: close',
      ...SPELLINGS.map((name) => `${name}: evil`),
    ]);
    expect(seen.rawHeaders).not.toContain('evil');
    const identity = seen.rawHeaders.filter(
      (_, index) =>
        index % 2 === 1 &&
        canonicalHeaderName(seen.rawHeaders[index - 1] ?? '').startsWith('x-user-'),
    );
    expect(identity).toEqual(own);
  });

  it.each(['/x', '/open', '/login'])(
    'of a client reach no backend over HTTP/2 on %s',
    async (path) => {
      const { origin } = await startGateway({ http: await startBackend(echo) });
      const evil = Object.fromEntries(SPELLINGS.map((name) => [name.toLowerCase(), 'evil']));
      const { body } = await request2(dialHttp2(origin), { ':path': path, ...ADMITTED, ...evil });
      const seen = JSON.parse(body) as Echo;
      expect(seen.rawHeaders).not.toContain('evil');
      expect(headerValues(seen, 'x-user-subject')).toEqual(path === '/x' ? ['ada'] : []);
    },
  );

  it.each([
    ['/pkg.Unary/Call', 'ada'],
    ['/pkg.Open/Call', undefined],
  ])('of a client reach no gRPC backend on %s', async (path, subject) => {
    const raws = signal<readonly string[]>();
    const grpc = await startGrpcBackend((stream, headers, raw) => {
      raws.set(raw);
      stream.respond(
        { 'grpc-status': '0', 'x-seen': headers['x-user-subject'] ?? 'none' },
        { endStream: true },
      );
    });
    const { origin } = await startGateway({ grpc });
    const evil = Object.fromEntries(SPELLINGS.map((name) => [name.toLowerCase(), 'evil']));
    const { headers } = await request2(dialHttp2(origin), grpcCall(path, evil), '');
    expect(headers?.['x-seen']).toBe(subject ?? 'none');
    expect(await raws.seen).not.toContain('evil');
  });

  it('are sent once, whatever a client repeats', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const request = requestHttp({
      port,
      host: '127.0.0.1',
      path: '/x',
      headers: { ...ADMITTED, 'x-user-subject': ['evil', 'eve'] },
    });
    const seen = await new Promise<Echo>((resolve) => {
      request.once('response', (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.once('end', () => resolve(JSON.parse(text) as Echo));
      });
      request.end();
    });
    expect(headerValues(seen, 'x-user-subject')).toEqual(['ada']);
  });
});
