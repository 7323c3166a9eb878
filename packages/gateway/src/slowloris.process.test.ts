import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { echo, startBackend } from '@sallyport/testing/gateway/backends';
import { dialHttp2, request2 } from '@sallyport/testing/gateway/http2-client';
import {
  ADMITTED,
  startGateway,
  type TestGateway,
} from '@sallyport/testing/gateway/running-gateway';
import { makeCertificate } from '@sallyport/testing/wire/certificate';
import { dial, drainSocket } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it, onTestFinished } from 'vitest';

const tls = makeCertificate();
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const LIMITS = { firstBytesMs: 150, headersMs: 200, keepAliveMs: 150, lingerMs: 50 };
/** Announces 120 bytes of SETTINGS, and stops. */
const SETTINGS_BEGUN = Buffer.from([0, 0, 120, 4, 0, 0, 0, 0, 0]);
/** Announces 100 bytes of HEADERS, and stops. */
const HEADERS_BEGUN = Buffer.from([0, 0, 100, 1, 4, 0, 0, 0, 1, 0x82]);
/** A client hello of 512 bytes of which five have come. */
const HELLO_BEGUN = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]);

async function start(limits: Partial<typeof LIMITS> = {}): Promise<TestGateway> {
  const http = await startBackend(echo);
  return startGateway(
    { http },
    { timeouts: { ...LIMITS, ...limits }, ...(tls === undefined ? {} : { tls }) },
  );
}

/**
 * Opens a connection that never ends its own side and never stops sending, so that only a reset by the
 * gateway closes it.
 */
function dialStubborn(port: number, first: string | Buffer, then: string | Buffer): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  socket.on('error', () => {});
  socket.resume();
  socket.write(first);
  const timer = setInterval(() => socket.write(then), 25);
  socket.once('close', () => clearInterval(timer));
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Not `once`, which takes a reset for a failure. */
function whenClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}

/** Does a TLS handshake and then says nothing. */
async function dialTls(port: number, options: ConnectionOptions): Promise<Socket> {
  const socket = connectTls({ port, host: '127.0.0.1', ca: tls?.cert, ...options });
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'secureConnect');
  return socket;
}

describe('a client that keeps the gateway waiting is cut off', () => {
  it.each([
    ['fewer than three bytes of a preface', 'PR'],
    ['an HTTP/1.1 request line that is not finished', 'GET / HT'],
    ['HTTP/1.1 headers that are never finished', 'GET / HTTP/1.1\r\nhost: a\r\nx-a: 1\r\n'],
    ['a preface of HTTP/2 that is not finished', 'PRI * HTTP/2.0\r\n'],
    ['the HTTP/2 preface alone', PREFACE],
    ['SETTINGS, then a frame that stalls', [PREFACE, SETTINGS, HEADERS_BEGUN]],
    ['SETTINGS, then nothing', [PREFACE, SETTINGS]],
  ])('after %s', async (_title, sent) => {
    const { port } = await start();
    const socket = dial(port);
    for (const part of [sent].flat()) socket.write(part);
    await drainSocket(socket);
  });

  it('after nothing at all', async () => {
    const { port } = await start();
    await drainSocket(dial(port));
  });

  it.each([
    ['HTTP/1.1 headers', 'GET / HTTP/1.1\r\nhost: a\r\nx-dribble: ', 'a'],
    ['HTTP/1.1 header lines', 'GET / HTTP/1.1\r\nhost: a\r\n', 'x-a: 1\r\n'],
    ['SETTINGS', Buffer.concat([Buffer.from(PREFACE), SETTINGS_BEGUN]), '\u0000'],
    ['a header block', Buffer.concat([Buffer.from(PREFACE), SETTINGS, HEADERS_BEGUN]), '\u0001'],
  ])('while it dribbles %s, though it never ends its side', async (_title, first, then) => {
    const { port } = await start();
    await whenClosed(dialStubborn(port, first, then));
  });

  it('while it dribbles the second request of a connection', async () => {
    const { port } = await start();
    const whole = 'GET /open HTTP/1.1\r\nhost: a\r\n\r\n';
    await whenClosed(dialStubborn(port, `${whole}GET /open HT`, 'x'));
  });

  it('after its last HTTP/2 call, though it never ends its side and goes on with pings', async () => {
    const { port } = await start();
    const ping = Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const first = Buffer.concat([Buffer.from(PREFACE), SETTINGS]);
    await whenClosed(dialStubborn(port, first, ping));
  });

  it.runIf(tls !== undefined)('while it dribbles a TLS handshake', async () => {
    const { port } = await start();
    await whenClosed(dialStubborn(port, HELLO_BEGUN, '\u0001'));
  });

  it.runIf(tls !== undefined)('after a TLS handshake that stalls', async () => {
    const { port } = await start();
    const socket = dial(port);
    socket.write(HELLO_BEGUN);
    await drainSocket(socket);
  });

  it.runIf(tls !== undefined).each([['h2'], ['http/1.1'], [undefined]])(
    'after a complete TLS handshake for %s and nothing else',
    async (protocol) => {
      const { port } = await start();
      const options = protocol === undefined ? {} : { ALPNProtocols: [protocol] };
      await drainSocket(await dialTls(port, options));
    },
  );

  it('while a request body does not arrive: 408, and the connection ends', async () => {
    const http = await startBackend(echo);
    const { port } = await startGateway({ http }, { timeouts: { ...LIMITS, requestMs: 100 } });
    const socket = dial(port);
    socket.write('POST /open HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf');
    expect(await drainSocket(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('while an HTTP/2 request body does not arrive: 408', async () => {
    const http = await startBackend(echo);
    const { origin } = await startGateway({ http }, { timeouts: { requestMs: 100 } });
    const stream = dialHttp2(origin).request(
      { ':method': 'POST', ':path': '/open' },
      { endStream: false },
    );
    stream.on('error', () => {});
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(408);
  });
});

describe('a slow but honest client is served', () => {
  const patient = { firstBytesMs: 5_000, headersMs: 5_000, keepAliveMs: 5_000, lingerMs: 5_000 };

  /** Sends piece after piece, each when the one before has left. */
  async function sendInPieces(socket: Socket, pieces: readonly (string | Buffer)[]): Promise<void> {
    for (const piece of pieces)
      await new Promise((resolve) => {
        socket.write(piece, () => setImmediate(resolve));
      });
  }

  it('over HTTP/1.1, byte by byte', async () => {
    const { port } = await start(patient);
    const socket = dial(port);
    socket.setNoDelay(true);
    const request = `POST /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncore-authorization: ${ADMITTED['core-authorization']}\r\ncontent-length: 4\r\n\r\nbody`;
    const answer = drainSocket(socket);
    await sendInPieces(socket, request.split(''));
    expect(await answer).toMatch(/^HTTP\/1\.1 200 .*"body":"body"/s);
  });

  it('over HTTP/2, after a rest shorter than the limit', async () => {
    const { origin } = await start(patient);
    const session = dialHttp2(origin);
    await once(session, 'remoteSettings');
    for (const path of ['/one', '/two']) {
      const { headers, body } = await request2(session, { ':path': path, ...ADMITTED });
      expect([headers?.[':status'], JSON.parse(body)]).toMatchObject([200, { target: path }]);
    }
  });

  it.runIf(tls !== undefined)('over TLS, byte by byte', async () => {
    const { port } = await start(patient);
    const socket = await dialTls(port, {});
    const answer = drainSocket(socket);
    await sendInPieces(
      socket,
      'GET /open HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'.split(''),
    );
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});
