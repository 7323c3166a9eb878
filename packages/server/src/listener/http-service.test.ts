import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { dial, drainSocket, talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpHandler } from './connections.ts';
import { type HttpListener, listenOnOnePort } from './http-service.ts';
import type { ServiceTimeouts } from './timeouts.ts';

const GET = 'GET /path HTTP/1.1\r\nhost: a\r\n';

/** Answers with version, method and path, once the request has ended. */
const echo: HttpHandler = (req, res) => {
  req.resume();
  req.once('end', () => {
    res.setHeader('content-type', 'text/plain');
    res.end(`${req.httpVersion} ${req.method} ${req.url}`);
  });
};

/** A stop that waits for connections that may still send a request. */
const LONG = { drainRestMs: 60_000, drainMs: 60_000 };

/** A connection that has been taken, and has not shown its protocol. */
async function sayLittle(port: number, text: string): Promise<Socket> {
  const socket = dial(port);
  socket.write(text);
  // A later connection is answered later.
  await talk(port, `${GET}connection: close\r\n\r\n`);
  return socket;
}

async function start(
  handler: HttpHandler = echo,
  timeouts: Partial<ServiceTimeouts> = {},
): Promise<HttpListener> {
  const listener = await listenOnOnePort(handler, {
    port: 0,
    host: '127.0.0.1',
    timeouts: { drainMs: 2_000, ...timeouts },
  });
  onTestFinished(() => listener.close());
  return listener;
}

function dialHttp2(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Sends a GET; resolves to body and reset code. */
async function get2(session: ClientHttp2Session): Promise<readonly [string, number]> {
  const stream = session.request({ ':path': '/path' });
  stream.on('error', () => {});
  let body = '';
  stream.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  await once(stream, 'close');
  return [body, stream.rstCode];
}

describe('one port', () => {
  it('answers HTTP/1.1', async () => {
    const { port } = await start();
    expect(await talk(port, `${GET}connection: close\r\n\r\n`)).toMatch(/\r\n\r\n1\.1 GET \/path$/);
  });

  it('answers HTTP/2 without TLS', async () => {
    const { port } = await start();
    expect(await get2(dialHttp2(port))).toEqual(['2.0 GET /path', 0]);
  });

  it('closes a TLS handshake, unanswered', async () => {
    const { port } = await start();
    expect(await talk(port, Buffer.from('1603010200010001fc0303', 'hex'))).toBe('');
  });

  it('says when the port is taken', async () => {
    const { port } = await start();
    await expect(listenOnOnePort(echo, { port, host: '127.0.0.1' })).rejects.toMatchObject({
      code: 'SP_PORT_IN_USE',
    });
  });

  it('refuses an HTTP/1.1 request with both lengths', async () => {
    const { port } = await start();
    const request = `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(await talk(port, request)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ['HTTP/1.1', 70_000, 'HTTP/1.1 431'],
    ['HTTP/1.1', 40_000, 'HTTP/1.1 200'],
  ])(
    'takes headers of an ingress in full and no more: %s, %i bytes -> %s',
    async (_, size, start1) => {
      const { port } = await start();
      const request = `${GET}connection: close\r\nx-long: ${'x'.repeat(size)}\r\n\r\n`;
      expect(await talk(port, request)).toMatch(new RegExp(`^${start1}`));
    },
  );

  it('sends HTTP/2 clients its limits', async () => {
    const { port } = await start();
    const session = dialHttp2(port);
    const [settings] = (await once(session, 'remoteSettings')) as [Record<string, unknown>];
    expect(settings).toMatchObject({ maxConcurrentStreams: 200, maxHeaderListSize: 65_536 });
  });
});

describe('a slow client', () => {
  const short = { firstBytesMs: 60, headersMs: 60, requestMs: 60, keepAliveMs: 60 };

  it.each([
    ['says nothing', ''],
    ['begins the HTTP/2 preface', 'PR'],
    ['sends the preface and no SETTINGS', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('that %s is disconnected', async (_, sent) => {
    const { port } = await start(echo, short);
    const socket = dial(port);
    socket.write(sent);
    await drainSocket(socket);
  });

  it('that never ends its HTTP/1.1 headers gets at most 408 and is disconnected', async () => {
    const { port } = await start(echo, short);
    expect(await talk(port, GET)).toMatch(/^(?:HTTP\/1\.1 408 .*)?$/s);
  });

  it('that never ends its HTTP/1.1 body is disconnected', async () => {
    const { port } = await start(echo, short);
    const request = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n123';
    expect(await talk(port, request)).not.toContain('200');
  });

  it('that never ends its HTTP/2 body has its stream reset, and the next one answered', async () => {
    const { port } = await start(echo, { ...short, keepAliveMs: 5_000 });
    const session = dialHttp2(port);
    const stream = session.request({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => {});
    stream.write('123');
    await once(stream, 'close');
    expect(stream.rstCode).not.toBe(0);
    expect(await get2(session)).toEqual(['2.0 GET /path', 0]);
  });

  it('that leaves a finished HTTP/2 answer in the window has its stream reset', async () => {
    const { port } = await start((_, res) => res.end('x'.repeat(1_000_000)), short);
    const session = dialHttp2(port);
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => {});
    // Never read: the window stays closed after its first 64 KiB.
    await once(stream, 'response');
    stream.pause();
    await once(session, 'close');
    expect(stream.closed).toBe(true);
  });

  it('that opens no HTTP/2 window has its stream reset, however small the answer', async () => {
    const { port } = await start((_, res) => res.end('x'), { ...short, keepAliveMs: 5_000 });
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
    session.on('error', () => {});
    onTestFinished(() => session.destroy());
    expect(await get2(session)).toEqual(['', constants.NGHTTP2_CANCEL]);
  });

  it('that opens no HTTP/2 window has its stream reset in the middle of an answer, too', async () => {
    const { port } = await start((_, res) => void (res as ServerResponse).write('x'), short);
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
    session.on('error', () => {});
    onTestFinished(() => session.destroy());
    expect(await get2(session)).toEqual(['', constants.NGHTTP2_CANCEL]);
  });

  it('on HTTP/2 is not who waits for a handler', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { port } = await start((_, res) => void promise.then(() => res.end('late')), short);
    const answer = get2(dialHttp2(port));
    const quick = dial(port);
    await drainSocket(quick);
    resolve();
    expect(await answer).toEqual(['late', 0]);
  });

  it('an HTTP/2 connection without a stream is closed', async () => {
    const { port } = await start(echo, short);
    await once(dialHttp2(port), 'close');
  });
});

describe('close', () => {
  it('lets an answer under way finish, on both versions, and takes no new connection', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun: (() => void)[] = [];
    const both = new Promise<void>((ready) => begun.push(ready));
    let seen = 0;
    const listener = await start((_, res) => {
      seen += 1;
      if (seen === 2) begun[0]?.();
      void promise.then(() => res.end('late'));
    });
    const one = talk(listener.port, `${GET}\r\n`);
    const two = get2(dialHttp2(listener.port));
    await both;
    const closed = listener.close();
    const late = dial(listener.port);
    expect(await once(late, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
    resolve();
    expect(await one).toMatch(/late$/);
    expect(await two).toEqual(['late', 0]);
    await closed;
  });

  it('ends connections that rest, after a moment', async () => {
    const listener = await start(echo, { drainMs: 60_000, drainRestMs: 50 });
    const socket = dial(listener.port);
    socket.write(`${GET}\r\n`);
    await once(socket, 'data');
    const session = dialHttp2(listener.port);
    await get2(session);
    const silent = dial(listener.port);
    await once(silent, 'connect');
    const ended = Promise.all([socket, session, silent].map((each) => once(each, 'close')));
    for (const each of [socket, silent]) each.once('end', () => each.end());
    await listener.close();
    await ended;
  });

  it('answers the request that a resting connection sends meanwhile, whole, and says that it was the last', async () => {
    const listener = await start(echo, LONG);
    const socket = dial(listener.port);
    socket.write(`${GET}\r\n`);
    expect(String(await once(socket, 'data'))).toContain('Connection: keep-alive');
    const closed = listener.close();
    socket.write(`${GET}\r\n`);
    const answer = await drainSocket(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    expect(answer).toMatch(/1\.1 GET \/path$/);
    await closed;
  });

  it('a connection that was taken before and speaks HTTP/1.1 only now is answered, with Connection: close', async () => {
    const listener = await start(echo, LONG);
    const socket = await sayLittle(listener.port, 'G');
    const closed = listener.close();
    socket.write(`${GET.slice(1)}\r\n`);
    expect(await drainSocket(socket)).toMatch(/Connection: close[\s\S]*1\.1 GET \/path$/);
    await closed;
  });

  it('one that speaks HTTP/2 only now is sent elsewhere before its first stream', async () => {
    const listener = await start(echo, LONG);
    const socket = await sayLittle(listener.port, 'P');
    const closed = listener.close();
    const noSettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    socket.write(Buffer.concat([Buffer.from('RI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), noSettings]));
    const received: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    // GOAWAY (type 7) of the connection; the last stream it names is 0, and so is the error.
    const goAway = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    await expect.poll(() => Buffer.concat(received).includes(goAway)).toBe(true);
    socket.end();
    await closed;
  });

  it('ends what does not end in time', async () => {
    const listener = await start(() => {}, { drainMs: 50 });
    const answer = talk(listener.port, `${GET}\r\n`);
    const session = dialHttp2(listener.port);
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => {});
    await once(session, 'connect');
    await listener.close();
    expect(await answer).toBe('');
  });
});
