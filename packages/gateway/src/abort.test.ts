import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, request as requestHttp } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import {
  killConnections,
  startBackend,
  startGrpcBackend,
} from '@sallyport/testing/gateway/backends';
import { collect, dialHttp2, grpcCall } from '@sallyport/testing/gateway/http2-client';
import { startGateway } from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import { dial } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it } from 'vitest';
import { resetStream } from './reset-stream.ts';

/** A backend that reports when its caller has broken off, having answered so far or not. */
async function startWatched(respond: RequestListener) {
  const asked = signal();
  const aborted = signal<boolean>();
  const http = await startBackend((request, response) => {
    request.on('error', () => {});
    response.once('close', () => aborted.set(!response.writableFinished));
    respond(request, response);
    asked.set();
  });
  return { http, asked: asked.seen, aborted: aborted.seen };
}

const silent: RequestListener = () => {};
const half: RequestListener = (_request, response) => {
  response.write('half');
};

describe("a client's abort reaches the backend", () => {
  it.each([
    ['before it has answered', silent],
    ['within its answer', half],
  ])('HTTP/1.1, %s', async (_title, respond) => {
    const { http, asked, aborted } = await startWatched(respond);
    const { port } = await startGateway({ http });
    const socket = dial(port);
    socket.write('GET /open HTTP/1.1\r\nhost: a\r\n\r\n');
    await asked;
    if (respond === half) await once(socket, 'data');
    socket.destroy();
    expect(await aborted).toBe(true);
  });

  it('HTTP/1.1, within the request body', async () => {
    const { http, asked, aborted } = await startWatched((request) => request.resume());
    const { port } = await startGateway({ http });
    const socket = dial(port);
    socket.write('POST /open HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf');
    await asked;
    socket.destroy();
    expect(await aborted).toBe(true);
  });

  it('HTTP/1.1: a chunked body that breaks off does not reach the backend as complete', async () => {
    const ended = signal<string>();
    const { http, asked } = await startWatched((request) => {
      request.resume();
      request.once('end', () => ended.set('complete'));
      request.once('error', () => ended.set('broken'));
    });
    const { port } = await startGateway({ http });
    const socket = dial(port);
    socket.write(
      'POST /open HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    );
    await asked;
    socket.destroy();
    expect(await ended.seen).toBe('broken');
  });

  it.each([
    ['before it has answered', silent],
    ['within its answer', half],
  ])('HTTP/2 to HTTP/1.1, %s', async (_title, respond) => {
    const { http, asked, aborted } = await startWatched(respond);
    const { origin } = await startGateway({ http });
    const stream = dialHttp2(origin).request({ ':path': '/open' });
    stream.on('error', () => {});
    await asked;
    if (respond === half) await once(stream, 'data');
    stream.close(constants.NGHTTP2_CANCEL);
    expect(await aborted).toBe(true);
  });

  it('HTTP/2 to HTTP/1.1, by the end of its whole connection', async () => {
    const { http, asked, aborted } = await startWatched(silent);
    const { origin } = await startGateway({ http });
    const session = dialHttp2(origin);
    session.request({ ':path': '/open' }).on('error', () => {});
    await asked;
    session.destroy();
    expect(await aborted).toBe(true);
  });

  it.each([
    ['a stream reset', constants.NGHTTP2_CANCEL],
    ['another reset code', constants.NGHTTP2_ENHANCE_YOUR_CALM],
  ])('gRPC: %s, code and all', async (_title, code) => {
    const opened = signal<ServerHttp2Stream>();
    const closed = signal<number>();
    const grpc = await startGrpcBackend((stream) => {
      stream.once('close', () => closed.set(stream.rstCode));
      opened.set(stream);
    });
    const { origin } = await startGateway({ grpc });
    const stream = dialHttp2(origin).request(grpcCall('/pkg.Stream/Call'), { endStream: false });
    stream.on('error', () => {});
    await opened.seen;
    stream.close(code);
    expect(await closed.seen).toBe(code);
  });

  it('HTTP/2 to HTTP/1.1: a body that breaks off does not reach the backend as complete', async () => {
    const got = signal();
    const ended = signal<string>();
    const { http } = await startWatched((request) => {
      request.on('data', () => got.set());
      request.once('end', () => ended.set('complete'));
      request.once('error', () => ended.set('broken'));
    });
    const { origin } = await startGateway({ http });
    const stream = dialHttp2(origin).request(
      { ':method': 'POST', ':path': '/open' },
      { endStream: false },
    );
    stream.on('error', () => {});
    stream.write('half');
    await got.seen;
    resetStream(stream, constants.NGHTTP2_CANCEL);
    expect(await ended.seen).toBe('broken');
  });

  it('gRPC: a request that breaks off does not reach the backend as complete', async () => {
    const got = signal<ServerHttp2Stream>();
    const events: string[] = [];
    const closed = signal();
    const grpc = await startGrpcBackend((stream) => {
      stream.on('data', () => got.set(stream));
      stream.once('end', () => events.push(`end ${stream.rstCode}`));
      stream.once('close', () => closed.set());
    });
    const { origin } = await startGateway({ grpc });
    const stream = dialHttp2(origin).request(grpcCall('/pkg.Stream/Call'), { endStream: false });
    stream.on('error', () => {});
    stream.write('half');
    await got.seen;
    resetStream(stream, constants.NGHTTP2_CANCEL);
    await closed.seen;
    expect(events).not.toContain('end 0');
  });

  it('gRPC: the end of its connection', async () => {
    const opened = signal();
    const closed = signal<number>();
    const grpc = await startGrpcBackend((stream) => {
      stream.once('close', () => closed.set(stream.rstCode));
      opened.set();
    });
    const { origin } = await startGateway({ grpc });
    const session = dialHttp2(origin);
    session.request(grpcCall('/pkg.Stream/Call'), { endStream: false }).on('error', () => {});
    await opened.seen;
    session.destroy();
    expect(await closed.seen).toBe(constants.NGHTTP2_CANCEL);
  });
});

describe("a backend's death reaches the client as a broken transfer", () => {
  const dying: readonly (readonly [string, RequestListener])[] = [
    [
      'a Content-Length',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half', () => request.socket.destroy());
      },
    ],
    [
      'chunks',
      (request, response) => {
        response.write('half', () => request.socket.destroy());
      },
    ],
    [
      'chunks, by a reset',
      (request, response) => {
        response.write('half', () => request.socket.resetAndDestroy());
      },
    ],
  ];

  it.each(dying)('HTTP/1.1, an answer with %s', async (_title, respond) => {
    const { port } = await startGateway({ http: await startBackend(respond) });
    const request = requestHttp({ port, host: '127.0.0.1', path: '/open' }).end();
    request.on('error', () => {});
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    const chunks: unknown[] = [];
    const reading = (async () => {
      for await (const chunk of response) chunks.push(chunk);
    })();
    await expect(reading).rejects.toThrow();
    expect([chunks.join(''), response.complete]).toEqual(['half', false]);
  });

  it('HTTP/1.0, where the end of the connection would end the body: it is a reset', async () => {
    const die = signal<() => void>();
    const http = await startBackend((request, response) => {
      response.write('half');
      die.set(() => request.socket.destroy());
    });
    const { port } = await startGateway({ http });
    const socket = dial(port);
    socket.write('GET /open HTTP/1.0\r\nhost: a\r\n\r\n');
    await once(socket, 'data');
    const failed = signal<string | undefined>();
    socket.once('error', (error: NodeJS.ErrnoException) => failed.set(error.code));
    socket.once('end', () => failed.set('complete'));
    (await die.seen)();
    expect(await failed.seen).toBe('ECONNRESET');
  });

  it.each(dying)('HTTP/2, an answer with %s', async (_title, respond) => {
    const { origin } = await startGateway({ http: await startBackend(respond) });
    const answer = await collect(dialHttp2(origin).request({ ':path': '/open' }));
    expect(answer).toMatchObject({
      headers: { ':status': 200 },
      rstCode: constants.NGHTTP2_INTERNAL_ERROR,
    });
  });

  it('negative twin: an answer that ends as announced is complete', async () => {
    const { origin } = await startGateway({
      http: await startBackend((_request, response) => {
        response.end('whole');
      }),
    });
    const answer = await collect(dialHttp2(origin).request({ ':path': '/open' }));
    expect(answer).toMatchObject({ body: 'whole', rstCode: constants.NGHTTP2_NO_ERROR });
  });

  it.each(['destroy', 'resetAndDestroy'] as const)(
    'gRPC, when the connection to the backend goes (%s)',
    async (how) => {
      const grpc = await startGrpcBackend((stream) => {
        stream.respond({ 'content-type': 'application/grpc' });
        stream.write('half');
      });
      const { origin, events } = await startGateway({ grpc });
      const stream = dialHttp2(origin).request(grpcCall('/pkg.Stream/Call'));
      const answer = collect(stream);
      await once(stream, 'data');
      killConnections(grpc, how);
      expect(await answer).toMatchObject({
        body: 'half',
        trailers: undefined,
        rstCode: constants.NGHTTP2_INTERNAL_ERROR,
      });
      expect(events).toMatchObject([
        ['gateway.upstream_failed', { reason: 'upstream_unreachable' }],
      ]);
    },
  );

  it('gRPC, before it has answered: UNAVAILABLE', async () => {
    const opened = signal();
    const grpc = await startGrpcBackend(() => opened.set());
    const { origin } = await startGateway({ grpc }, { timeouts: { lingerMs: 50 } });
    const answer = collect(dialHttp2(origin).request(grpcCall('/pkg.Unary/Call')));
    await opened.seen;
    killConnections(grpc, 'destroy');
    expect(await answer).toMatchObject({ headers: { ':status': 200, 'grpc-status': '14' } });
  });

  it.each([
    ['CANCEL', constants.NGHTTP2_CANCEL],
    ['ENHANCE_YOUR_CALM', constants.NGHTTP2_ENHANCE_YOUR_CALM],
  ])('gRPC, a stream reset within the answer: %s', async (_title, code) => {
    const end = signal<() => void>();
    const grpc = await startGrpcBackend((stream) => {
      stream.respond({ 'content-type': 'application/grpc' });
      stream.write('half');
      end.set(() => resetStream(stream, code));
    });
    const { origin } = await startGateway({ grpc });
    const stream = dialHttp2(origin).request(grpcCall('/pkg.Stream/Call'));
    const answer = collect(stream);
    await once(stream, 'data');
    (await end.seen)();
    expect(await answer).toMatchObject({ trailers: undefined, rstCode: code });
  });

  it('gRPC, a reset before the answer has begun: its code', async () => {
    const grpc = await startGrpcBackend((stream) => {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    });
    const { origin } = await startGateway({ grpc });
    const answer = await collect(dialHttp2(origin).request(grpcCall('/pkg.Unary/Call')));
    expect(answer).toMatchObject({
      headers: undefined,
      rstCode: constants.NGHTTP2_REFUSED_STREAM,
    });
  });

  it('gRPC, a whole answer to a request that is not: the caller is asked to stop', async () => {
    const grpc = await startGrpcBackend((stream) => {
      stream.respond({ 'grpc-status': '0' }, { endStream: true });
      // Node would drop an answer whose reset is queued in the same turn.
      setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
    });
    const { origin } = await startGateway({ grpc }, { timeouts: { lingerMs: 50 } });
    const stream = dialHttp2(origin).request(grpcCall('/pkg.Stream/Call'), { endStream: false });
    expect(await collect(stream)).toMatchObject({
      headers: { ':status': 200, 'grpc-status': '0' },
      rstCode: constants.NGHTTP2_NO_ERROR,
    });
  });
});
