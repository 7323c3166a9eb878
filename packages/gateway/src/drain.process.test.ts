import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { Agent, request as requestHttp } from 'node:http';
import { connect as connectTls } from 'node:tls';
import { echo, startBackend } from '@sallyport/testing/gateway/backends';
import { collect, dialHttp2, request2 } from '@sallyport/testing/gateway/http2-client';
import { startGateway } from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import { makeCertificate } from '@sallyport/testing/wire/certificate';
import { endsStream, openConnection, openStream } from '@sallyport/testing/wire/http2-frames';
import { dial, drainSocket, talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it, onTestFinished } from 'vitest';

const tls = makeCertificate();
/** Longer than a test may take: whatever ends before has not waited for it. */
const LONG = { drainMs: 60_000, keepAliveMs: 60_000, headersMs: 60_000, firstBytesMs: 60_000 };
const GET = 'GET /open HTTP/1.1\r\nhost: a\r\n\r\n';
const ASK_OVER_HTTP2 = Buffer.concat([openConnection(65_535), openStream(1, '/open')]);

/** A backend that has begun an answer and ends it on request of the test. */
async function startHalfAnswered() {
  const begun = signal<ServerResponse>();
  const answer: RequestListener = (_request, response) => {
    response.write('first,');
    begun.set(response);
  };
  return { http: await startBackend(answer), begun: begun.seen };
}

describe('drain closes at once what is idle', () => {
  it('an undecided connection', async () => {
    const { gateway, port } = await startGateway({}, { timeouts: LONG });
    const socket = dial(port);
    await once(socket, 'connect');
    socket.write('PR');
    const closed = drainSocket(socket);
    // An answer on another connection: by then the gateway has accepted the first.
    await talk(port, 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    await gateway.drain();
    expect(await closed).toBe('');
  });

  it('a kept-alive HTTP/1.1 connection', async () => {
    const http = await startBackend(echo);
    const { gateway, port } = await startGateway({ http }, { timeouts: LONG });
    const socket = dial(port);
    socket.write(GET);
    await once(socket, 'data');
    const closed = once(socket, 'close');
    await gateway.drain();
    await closed;
  });

  it('an HTTP/2 session without a stream', async () => {
    const http = await startBackend(echo);
    const { gateway, origin } = await startGateway({ http }, { timeouts: LONG });
    const session = dialHttp2(origin);
    await request2(session, { ':path': '/open' });
    const closed = once(session, 'close');
    await gateway.drain();
    await closed;
  });

  it.runIf(tls !== undefined)('TLS connections, within their handshake and behind it', async () => {
    const http = await startBackend(echo);
    const { gateway, port } = await startGateway(
      { http },
      { timeouts: LONG, ...(tls === undefined ? {} : { tls }) },
    );
    const begun = dial(port);
    begun.write(Buffer.from([0x16, 3, 1, 2, 0]));
    const silent = connectTls({ port, host: '127.0.0.1', ca: tls?.cert });
    const served = connectTls({ port, host: '127.0.0.1', ca: tls?.cert });
    const http2 = dialHttp2(`https://127.0.0.1:${port}`, { ca: tls?.cert ?? '' });
    for (const socket of [silent, served]) {
      socket.on('error', () => {});
      onTestFinished(() => {
        socket.destroy();
      });
    }
    await once(silent, 'secureConnect');
    served.write(GET);
    await once(served, 'data');
    await request2(http2, { ':path': '/open' });
    const closed = [begun, silent, served, http2].map((each) => once(each, 'close'));
    await gateway.drain();
    await Promise.all(closed);
  });
});

describe('drain lets requests under way finish', () => {
  it('over HTTP/1.1, refuses new connections at once, and then closes the connection', async () => {
    const { http, begun } = await startHalfAnswered();
    const { gateway, port } = await startGateway({ http }, { timeouts: LONG });
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const request = requestHttp({ port, host: '127.0.0.1', path: '/open', agent }).end();
    const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
    const backend = await begun;
    const drained = gateway.drain();

    const late = dial(port);
    const [refusal] = (await once(late, 'error')) as [NodeJS.ErrnoException];
    expect(refusal.code).toBe('ECONNREFUSED');

    backend.end('last');
    const chunks: unknown[] = [];
    for await (const chunk of response) chunks.push(chunk);
    expect(chunks.join('')).toBe('first,last');
    await drained;
  });

  it('over HTTP/2', async () => {
    const { http, begun } = await startHalfAnswered();
    const { gateway, origin } = await startGateway({ http }, { timeouts: LONG });
    const answer = collect(dialHttp2(origin).request({ ':path': '/open' }));
    const backend = await begun;
    const drained = gateway.drain();
    backend.end('last');
    expect(await answer).toMatchObject({ body: 'first,last', rstCode: 0 });
    await drained;
  });

  it('and takes no further request on a connection that it waits for', async () => {
    const { http, begun } = await startHalfAnswered();
    const { gateway, port } = await startGateway({ http }, { timeouts: LONG });
    const socket = dial(port);
    socket.write(GET);
    const backend = await begun;
    const received = drainSocket(socket);
    const drained = gateway.drain();
    socket.write(GET);
    backend.end('last');
    expect((await received).match(/HTTP\/1\.1 /g)).toHaveLength(1);
    await drained;
  });
});

describe('drain is bounded', () => {
  it.each(['HTTP/1.1', 'HTTP/2'])(
    'breaks an %s answer off when its time is over',
    async (version) => {
      const { http, begun } = await startHalfAnswered();
      const { gateway, port } = await startGateway(
        { http },
        { timeouts: { ...LONG, drainMs: 50 } },
      );
      if (version === 'HTTP/1.1') {
        const received = talk(port, GET);
        await begun;
        await gateway.drain();
        // The last chunk is missing, so the client knows.
        expect(await received).not.toContain('0\r\n\r\n');
      } else {
        // Node's client takes a reset after GOAWAY for the end of the answer.
        const received = talk(port, ASK_OVER_HTTP2);
        await begun;
        await gateway.drain();
        expect(endsStream(await received, 1)).toBe(false);
      }
    },
  );

  it('lets an HTTP/2 answer come to its end before that', async () => {
    const { http, begun } = await startHalfAnswered();
    const { gateway, port } = await startGateway({ http }, { timeouts: LONG });
    const received = talk(port, ASK_OVER_HTTP2);
    const backend = await begun;
    const drained = gateway.drain();
    backend.end('last');
    await drained;
    expect(endsStream(await received, 1)).toBe(true);
  });

  it('does not wait for a client that never ends its side', async () => {
    const { gateway, origin } = await startGateway({}, { timeouts: { ...LONG, drainMs: 50 } });
    const socket = dial(Number(new URL(origin).port));
    socket.allowHalfOpen = true;
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    await once(socket, 'data');
    await gateway.drain();
  });
});
