import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { startBackend, startGrpcBackend } from '@sallyport/testing/gateway/backends';
import { collect, dialHttp2, grpcCall } from '@sallyport/testing/gateway/http2-client';
import { ADMITTED, startGateway } from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import {
  beginStream,
  cancelStream,
  continueStream,
  literalHeader,
  openConnection,
  openStream,
  openWindow,
} from '@sallyport/testing/wire/http2-frames';
import { dial, drainSocket } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it, onTestFinished } from 'vitest';

const STALL_MS = 150;
const TIMEOUTS = { clientStallMs: STALL_MS, firstBytesMs: 30, lingerMs: 50 };
const small: RequestListener = (_request, response) => void response.end('small');
/** More than all buffers on the way take. */
const large: RequestListener = (_request, response) => {
  response.end(Buffer.alloc(32 * 1024 * 1024));
};

/** An HTTP/2 client none of whose windows is ever open. */
function dialShut(origin: string): ClientHttp2Session {
  const session = connect(origin, { settings: { initialWindowSize: 0 } });
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** A connection that says nothing ends after `firstBytesMs`: the gateway's own clock. */
async function tick(port: number): Promise<void> {
  await drainSocket(dial(port));
}

async function endOf(session: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<number> {
  const answer = await collect(session.request(headers));
  expect(answer.body).toBe('');
  return answer.rstCode;
}

describe('an HTTP/2 stream whose client takes nothing of its answer', () => {
  it.each([
    ['the answer of a backend', { ':path': '/open' }],
    ['the answer of a backend to a streaming route', { ':path': '/events', ...ADMITTED }],
    ['a refusal', { ':path': '/closed' }],
    ['an answer of the gateway itself', { ':path': '/nowhere-open' }],
    ['the answer of a gRPC backend', grpcCall('/pkg.Unary/Call')],
    ['the stream of a gRPC backend', grpcCall('/pkg.Stream/Call')],
  ])('ends, however small: %s', async (_what, headers) => {
    const http = await startBackend(small);
    const grpc = await startGrpcBackend((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.write('small');
    });
    const { origin } = await startGateway({ http, grpc }, { timeouts: TIMEOUTS });
    expect(await endOf(dialShut(origin), headers)).not.toBe(0);
  });

  it('ends with all others of all such connections, which end too', async () => {
    const http = await startBackend(small);
    const { origin } = await startGateway(
      { http },
      { timeouts: { ...TIMEOUTS, keepAliveMs: STALL_MS } },
    );
    const sessions = Array.from({ length: 4 }, () => dialShut(origin));
    const closed = sessions.map(
      (session) => new Promise<void>((resolve) => session.once('close', resolve)),
    );
    const ends = sessions.flatMap((session) =>
      Array.from({ length: 200 }, () => endOf(session, { ':path': '/open' })),
    );
    expect(new Set(await Promise.all(ends))).not.toContain(0);
    await Promise.all(closed);
  });

  it('ends although it opens its window byte by byte', async () => {
    const http = await startBackend((_request, response) => void response.end('x'.repeat(4_000)));
    const { port } = await startGateway({ http }, { timeouts: { ...TIMEOUTS, keepAliveMs: 200 } });
    const socket = dial(port);
    socket.write(Buffer.concat([openConnection(0), openStream(1, '/open')]));
    const timer = setInterval(() => socket.write(openWindow(1, 1)), 10);
    socket.once('close', () => clearInterval(timer));
    expect((await drainSocket(socket)).length).toBeLessThan(4_000);
  });

  it('ends with its connection when that is not read at all', async () => {
    const http = await startBackend(large);
    const { gateway, port } = await startGateway(
      { http },
      { timeouts: { ...TIMEOUTS, drainMs: 60_000 } },
    );
    const socket = dial(port);
    const window = 0x3fffffff;
    socket.write(
      Buffer.concat([openConnection(window), openWindow(0, window), openStream(1, '/open')]),
    );
    await once(socket, 'readable');
    await gateway.drain();
  });

  it('ends the request to its backend', async () => {
    const closed = signal();
    const http = await startBackend((_request, response) => {
      response.write('begun');
      response.once('close', () => closed.set());
    });
    const { origin } = await startGateway({ http }, { timeouts: TIMEOUTS });
    void endOf(dialShut(origin), { ':path': '/events', ...ADMITTED });
    await closed.seen;
  });
});

describe('an HTTP/1.1 client that takes nothing of its answer', () => {
  it('is disconnected on a streaming route too, and the request to its backend ends', async () => {
    const closed = signal();
    const http = await startBackend((_request, response) => {
      response.once('close', () => closed.set());
      response.end(Buffer.alloc(32 * 1024 * 1024));
    });
    const { port } = await startGateway({ http }, { timeouts: TIMEOUTS });
    const credential = `core-authorization: ${ADMITTED['core-authorization']}`;
    dial(port).pause().write(`GET /events HTTP/1.1\r\nhost: a\r\n${credential}\r\n\r\n`);
    await closed.seen;
  });
});

describe('an HTTP/2 stream is left alone', () => {
  it('while it is its backend that has nothing to say', async () => {
    const calls: (() => void)[] = [];
    const both = signal();
    const grpc = await startGrpcBackend((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.write('one,');
      calls.push(() => stream.end('two'));
      if (calls.length === 2) both.set();
    });
    const http = await startBackend((_request, response) => {
      response.write('one,');
      calls.push(() => response.end('two'));
      if (calls.length === 2) both.set();
    });
    const { origin, port } = await startGateway({ grpc, http }, { timeouts: TIMEOUTS });
    const session = dialHttp2(origin);
    const streams = [grpcCall('/pkg.Stream/Call'), { ':path': '/events', ...ADMITTED }];
    const answers = streams.map((headers) => collect(session.request(headers)));
    await both.seen;
    // One that is shut has come to its end meanwhile.
    await endOf(dialShut(origin), { ':path': '/closed' });
    await tick(port);
    for (const finish of calls) finish();
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ body: 'one,two', rstCode: 0 });
  });

  it('while its client is slow and yet goes on', async () => {
    const size = 2_000_000;
    const http = await startBackend((_request, response) => void response.end('x'.repeat(size)));
    const { origin, port } = await startGateway({ http }, { timeouts: TIMEOUTS });
    const stream = dialHttp2(origin).request({ ':path': '/open' });
    let received = 0;
    let ticks = 0;
    for await (const chunk of stream) {
      received += (chunk as Buffer).length;
      if (received > (ticks + 1) * 131_072) {
        ticks += 1;
        await tick(port);
      }
    }
    expect(ticks * TIMEOUTS.firstBytesMs).toBeGreaterThan(STALL_MS * 2);
    expect(received).toBe(size);
  });
});

describe('an HTTP/2 connection that floods the gateway ends', () => {
  it.each([
    [
      'with streams that it takes back at once (CVE-2023-44487)',
      (n: number) => Buffer.concat([openStream(n * 2 + 1, '/open'), cancelStream(n * 2 + 1)]),
    ],
    [
      'with a header block that never ends (CVE-2024-27983)',
      (n: number) =>
        n === 0
          ? beginStream(1, '/open')
          : continueStream(1, literalHeader(`x-${n}`, 'x'.repeat(90))),
    ],
  ])('%s, and others are served', async (_what, flood) => {
    let asked = 0;
    const http = await startBackend((_request, response) => {
      asked += 1;
      response.end('served');
    });
    const { origin, port } = await startGateway({ http });
    const socket = dial(port);
    const closed = drainSocket(socket);
    const frames = Array.from({ length: 5_000 }, (_, n) => flood(n));
    socket.write(Buffer.concat([openConnection(65_535), ...frames]));
    await closed;
    expect(asked).toBeLessThan(2_000);
    const { body } = await collect(dialHttp2(origin).request({ ':path': '/open' }));
    expect(body).toBe('served');
  });
});
