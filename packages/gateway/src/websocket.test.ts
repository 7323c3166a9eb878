import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { echo, listenForTest, startBackend } from '@sallyport/testing/gateway/backends';
import { ADMITTED, PUBLIC_ORIGIN, startGateway } from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import { dial, drainSocket, talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

const UPGRADE =
  'host: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const GOOD = 'core-authorization: Bearer good\r\n';

/** A backend that echoes frames, and shows the handshake it got and the code it was closed with. */
async function startEcho() {
  const asked = signal<IncomingMessage>();
  const accepted = signal<WebSocket>();
  const closed = signal<number>();
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request) => {
    asked.set(request);
    accepted.set(socket);
    socket.on('message', (bytes, isBinary) => socket.send(bytes, { binary: isBinary }));
    socket.on('error', () => {});
    socket.once('close', (code) => closed.set(code));
  });
  const http = await listenForTest(server);
  return { http, asked: asked.seen, accepted: accepted.seen, closed: closed.seen };
}

function dialWebSocket(port: number, path: string, headers: Record<string, string>): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
  socket.on('error', () => {});
  onTestFinished(() => socket.terminate());
  return socket;
}

/** A backend that deals with an upgrade by itself. */
async function startUpgrading(serve: (socket: Duplex) => void): Promise<string> {
  const server = createServer();
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {});
    serve(socket);
  });
  return listenForTest(server);
}

describe('an admitted WebSocket', () => {
  it('passes frames both ways, and its backend receives the identity', async () => {
    const { http, asked } = await startEcho();
    const { port } = await startGateway({ http });
    const socket = dialWebSocket(port, '/socket?a=b', { ...ADMITTED, 'x-user-subject': 'evil' });
    await once(socket, 'open');
    for (const sent of ['text', 'x'.repeat(200_000)]) {
      socket.send(sent);
      const [received] = (await once(socket, 'message')) as [Buffer];
      expect(String(received)).toBe(sent);
    }
    const { url, headers } = await asked;
    expect([url, headers['x-user-subject'], headers.host]).toEqual([
      '/socket?a=b',
      'ada',
      new URL(PUBLIC_ORIGIN).host,
    ]);
    expect(headers['core-authorization']).toBeUndefined();
  });

  it('passes the first frame that came with the handshake', async () => {
    const { http, accepted } = await startEcho();
    const { port } = await startGateway({ http });
    const socket = dial(port);
    // One masked text frame, "hi", with a mask of zeroes.
    const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]);
    socket.write(
      Buffer.concat([Buffer.from(`GET /socket HTTP/1.1\r\n${UPGRADE}${GOOD}\r\n`), frame]),
    );
    const received = signal();
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.endsWith('\u0081\u0002hi')) received.set();
    });
    await accepted;
    await received.seen;
    expect(text).toMatch(/^HTTP\/1\.1 101 .*sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/is);
  });

  it("closes the backend's side when the client closes, code and all", async () => {
    const { http, closed } = await startEcho();
    const { port } = await startGateway({ http });
    const socket = dialWebSocket(port, '/socket', ADMITTED);
    await once(socket, 'open');
    socket.close(4001);
    expect(await closed).toBe(4001);
  });

  it("closes the client's side when the backend closes, code and all", async () => {
    const { http, accepted } = await startEcho();
    const { port } = await startGateway({ http });
    const socket = dialWebSocket(port, '/socket', ADMITTED);
    await once(socket, 'open');
    (await accepted).close(4002);
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(4002);
  });

  it.each(['client', 'backend'])('breaks off when the %s does', async (side) => {
    const { http, accepted, closed } = await startEcho();
    const { port } = await startGateway({ http });
    const socket = dialWebSocket(port, '/socket', ADMITTED);
    const ended = once(socket, 'close');
    await once(socket, 'open');
    if (side === 'client') socket.terminate();
    else (await accepted).terminate();
    expect([(await ended)[0], await closed]).toEqual([1006, 1006]);
  });

  it('carries the cookie that slides the session', async () => {
    const { http } = await startEcho();
    const { port } = await startGateway({ http });
    const socket = dialWebSocket(port, '/socket', { cookie: 'core_session=good; slide=1' });
    const [response] = (await once(socket, 'upgrade')) as [IncomingMessage];
    expect(response.headers['set-cookie']).toEqual(['core_session=good; Max-Age=9']);
  });
});

describe('a WebSocket that is not admitted', () => {
  it.each([401, 403] as const)(
    'gets a plain HTTP %i on the socket, and reaches no backend',
    async (status) => {
      let upgrades = 0;
      const http = await startUpgrading(() => {
        upgrades += 1;
      });
      const { port } = await startGateway(
        { http },
        { answer: () => ({ outcome: 'denied', status, headers: [['x-why', 'no']], body: 'no' }) },
      );
      const answer = await talk(port, `GET /socket HTTP/1.1\r\n${UPGRADE}\r\n`);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*x-why: no.*\r\n\r\nno$`, 's'));
      expect(upgrades).toBe(0);
    },
  );

  it('gets 503 when the verdict fails', async () => {
    const { port } = await startGateway({}, { answer: () => Promise.reject(new Error('x')) });
    const answer = await talk(port, `GET /socket HTTP/1.1\r\n${UPGRADE}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  });

  it('gets 400 when its request has a body, which could be read as frames', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const answer = await talk(
      port,
      `GET /socket HTTP/1.1\r\n${UPGRADE}${GOOD}content-length: 2\r\n\r\nhi`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('other upgrades', () => {
  it.each(['h2c', 'tcp', 'websocket, h2c', 'TLS/1.2'])('%s is not one', async (value) => {
    let upgrades = 0;
    const server = createServer(echo);
    server.on('upgrade', (_request, socket) => {
      upgrades += 1;
      socket.destroy();
    });
    const { port } = await startGateway({ http: await listenForTest(server) });
    const head = `host: a\r\nconnection: upgrade, close\r\nupgrade: ${value}\r\n${GOOD}`;
    expect(await talk(port, `GET /x HTTP/1.1\r\n${head}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(upgrades).toBe(0);
  });
});

describe('a backend that refuses the upgrade', () => {
  it.each([403, 426])('its %i is passed on', async (status) => {
    const http = await startUpgrading((socket) => {
      socket.end(
        `HTTP/1.1 ${status} No\r\nx-why: backend\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno`,
      );
    });
    const { port } = await startGateway({ http });
    const answer = await talk(port, `GET /socket HTTP/1.1\r\n${UPGRADE}${GOOD}\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*x-why: backend.*no$`, 's'));
  });

  it('by serving the request as a plain one: that answer is passed on', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const answer = await talk(port, `GET /socket HTTP/1.1\r\n${UPGRADE}${GOOD}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('by going away: 502', async () => {
    const http = await startUpgrading((socket) => socket.destroy());
    const { port } = await startGateway({ http });
    const socket = dial(port);
    socket.write(`GET /socket HTTP/1.1\r\n${UPGRADE}${GOOD}\r\n`);
    expect(await drainSocket(socket)).toMatch(/^HTTP\/1\.1 502 /);
  });
});
