import type { ServerHttp2Stream } from 'node:http2';
import { ROUTE_GROUPS } from '@sallyport/protocol';
import { echo, startBackend, startGrpcBackend } from '@sallyport/testing/gateway/backends';
import { collect, dialHttp2, grpcCall, request2 } from '@sallyport/testing/gateway/http2-client';
import { ADMITTED, startGateway, testAnswer } from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import { talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it } from 'vitest';

/** A gRPC message of the bytes given. */
function frame(text: string): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([prefix, Buffer.from(text)]);
}

/** Answers with messages, and trailers in the spelling of a real server. */
function answerWith(stream: ServerHttp2Stream, messages: readonly string[]): void {
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc+proto',
      'x-initial': ['one', 'two'],
      'x-bin-bin': 'AAEC',
    },
    { waitForTrailers: true },
  );
  stream.once('wantTrailers', () =>
    stream.sendTrailers({
      'grpc-status': '5',
      'grpc-message': 'not%20found',
      'x-last': ['a', 'b'],
    }),
  );
  for (const message of messages) stream.write(frame(message));
  stream.end();
}

describe('gRPC through HTTP/2 without TLS', () => {
  it.each([
    ['a unary call', '/pkg.Unary/Call', ['one']],
    ['a server stream', '/pkg.Stream/Call', ['one', 'two', 'three']],
    ['an answer without a message', '/pkg.Unary/Call', []],
  ])(
    '%s: message, initial metadata and trailers arrive as sent',
    async (_title, path, messages) => {
      const got = signal<string>();
      const grpc = await startGrpcBackend((stream) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.once('end', () => {
          got.set(Buffer.concat(chunks).toString('latin1'));
          answerWith(stream, messages);
        });
      });
      const { origin } = await startGateway({ grpc });
      const sent = frame('question').toString('latin1');
      const { headers, trailers, body, rstCode } = await request2(
        dialHttp2(origin),
        grpcCall(path),
        sent,
      );
      expect(await got.seen).toBe(sent);
      expect(headers).toMatchObject({
        ':status': 200,
        'content-type': 'application/grpc+proto',
        'x-initial': 'one, two',
        'x-bin-bin': 'AAEC',
      });
      expect(body).toBe(Buffer.concat(messages.map(frame)).toString());
      expect(trailers).toMatchObject({
        'grpc-status': '5',
        'grpc-message': 'not%20found',
        'x-last': 'a, b',
      });
      expect(rstCode).toBe(0);
    },
  );

  it('messages of both directions pass while both are open', async () => {
    const grpc = await startGrpcBackend((stream) => {
      stream.respond({ 'content-type': 'application/grpc' });
      stream.on('data', (chunk: Buffer) => stream.write(chunk));
      stream.once('end', () => stream.end());
    });
    const { origin } = await startGateway({ grpc });
    const stream = dialHttp2(origin).request(grpcCall('/pkg.Stream/Call'), { endStream: false });
    for (const word of ['one', 'two']) {
      const { promise, resolve } = Promise.withResolvers<Buffer>();
      stream.once('data', resolve);
      stream.write(frame(word));
      expect(await promise).toEqual(frame(word));
    }
    stream.end();
    expect(await collect(stream)).toMatchObject({ rstCode: 0 });
  });

  it('the deadline, te: trailers and the metadata reach the backend; the bearer goes as routed', async () => {
    const raws = signal<readonly string[]>();
    const grpc = await startGrpcBackend((stream, _headers, raw) => {
      raws.set(raw);
      stream.respond({ 'grpc-status': '0' }, { endStream: true });
    });
    const { origin } = await startGateway({ grpc });
    const extra = { 'grpc-timeout': '1500m', 'x-meta': ['a', 'b'], 'grpc-encoding': 'gzip' };
    await request2(dialHttp2(origin), grpcCall('/pkg.Unary/Call', extra), '');
    const raw = await raws.seen;
    const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1]]] : []));
    for (const pair of [
      ['grpc-timeout', '1500m'],
      ['te', 'trailers'],
      ['content-type', 'application/grpc'],
      ['x-meta', 'a'],
      ['x-meta', 'b'],
      ['grpc-encoding', 'gzip'],
      ['core-authorization', 'Bearer good'],
      ['x-user-subject', 'ada'],
      [':path', '/pkg.Unary/Call'],
    ])
      expect(pairs).toContainEqual(pair);
  });

  it('several calls share a connection to the backend', async () => {
    const sessions = new Set<unknown>();
    const grpc = await startGrpcBackend((stream) => {
      sessions.add(stream.session);
      stream.respond({ 'grpc-status': '0' }, { endStream: true });
    });
    const { origin } = await startGateway({ grpc });
    const session = dialHttp2(origin);
    const calls = Array.from({ length: 20 }, () =>
      request2(session, grpcCall('/pkg.Unary/Call'), ''),
    );
    for (const { headers } of await Promise.all(calls)) expect(headers?.['grpc-status']).toBe('0');
    expect(sessions.size).toBe(1);
  });
});

describe('gRPC that does not pass', () => {
  it('a denial arrives whole, and ends the call, though the request goes on', async () => {
    const { origin } = await startGateway({}, { timeouts: { lingerMs: 50 } });
    const call = grpcCall('/pkg.Unary/Call', { 'core-authorization': 'Bearer bad' });
    const stream = dialHttp2(origin).request(call, { endStream: false });
    stream.write('x'.repeat(1000));
    expect(await collect(stream)).toMatchObject({
      headers: { ':status': 200, 'grpc-status': '16' },
      rstCode: 0,
    });
  });

  it('a denial is trailers-only, and reaches no backend', async () => {
    const seen: string[] = [];
    const grpc = await startGrpcBackend((stream, headers) => {
      seen.push(headers[':path'] ?? '');
      stream.respond({ 'grpc-status': '0' }, { endStream: true });
    });
    const { origin } = await startGateway({ grpc });
    const call = grpcCall('/pkg.Unary/Call', { 'core-authorization': 'Bearer bad' });
    const answer = await request2(dialHttp2(origin), call, 'x');
    expect(answer).toMatchObject({
      headers: { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' },
      trailers: undefined,
      body: '',
      rstCode: 0,
    });
    expect(seen).toEqual([]);
  });

  it('over HTTP/1.1: 415', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const head = `host: a\r\nconnection: close\r\ncore-authorization: ${ADMITTED['core-authorization']}\r\ncontent-type: application/grpc\r\n`;
    const answer = await talk(
      port,
      `POST /pkg.Unary/Call HTTP/1.1\r\n${head}content-length: 0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 415 .*grpc_needs_http2/s);
  });

  it('what an ingress asks /me about a call is an HTTP request, whatever its content type', async () => {
    const http = await startBackend(echo);
    const { port, origin } = await startGateway({ http });
    const head = 'host: a\r\nconnection: close\r\ncontent-type: application/grpc\r\n';
    expect(await talk(port, `GET /login HTTP/1.1\r\n${head}\r\n`)).toMatch(
      /^HTTP\/1\.1 200 .*"target":"\/login"/s,
    );
    const call = grpcCall('/login', { ':method': 'HEAD' });
    expect((await request2(dialHttp2(origin), call)).headers?.[':status']).toBe(200);
    expect((await request2(dialHttp2(origin), grpcCall('/login'), '')).headers).toMatchObject({
      'grpc-status': '12',
    });
  });

  it('a path with a query is not the method that is unprotected', async () => {
    const grpc = await startGrpcBackend((stream) => {
      stream.respond({ 'grpc-status': '0' }, { endStream: true });
    });
    const { origin } = await startGateway({ grpc });
    for (const path of ['/pkg.Unary/Call?/pkg.Open/Call', '/pkg.Open/Call?x', '/pkg.Open/Call?']) {
      const call = grpcCall(path, { 'core-authorization': '' });
      const { headers } = await request2(dialHttp2(origin), call, '');
      expect(headers?.['grpc-status'], path).toBe('16');
    }
    const open = grpcCall('/pkg.Open/Call', { 'core-authorization': '' });
    const { headers } = await request2(dialHttp2(origin), open, '');
    expect(headers?.['grpc-status']).toBe('0');
  });

  it('a GET that says application/grpc', async () => {
    const { origin } = await startGateway({});
    const call = grpcCall('/pkg.Open/Call', { ':method': 'GET' });
    const { headers } = await request2(dialHttp2(origin), call);
    expect(headers).toMatchObject({ ':status': 200, 'grpc-status': '12' });
  });
});

describe('the metadata service', () => {
  const PATH = '/flyteidl.service.AuthMetadataService/GetOAuth2Metadata';

  it.each([
    [PATH, '0', 0],
    ['/flyteidl.service.AdminService/ListProjects', '16', 1],
  ])('%s: grpc-status %s after %i verdicts', async (path, status, verdicts) => {
    let asked = 0;
    const grpc = await startGrpcBackend((stream) => {
      stream.respond({ 'grpc-status': '0' }, { endStream: true });
    });
    const { origin } = await startGateway(
      {},
      {
        routes: ROUTE_GROUPS,
        upstreamFor: () => grpc,
        answer(request) {
          asked += 1;
          return testAnswer(request);
        },
      },
    );
    const call = grpcCall(path, { 'core-authorization': '' });
    const { headers } = await request2(dialHttp2(origin), call, '');
    expect([headers?.['grpc-status'], asked]).toEqual([status, verdicts]);
  });
});
