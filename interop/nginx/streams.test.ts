import { request, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Browser } from '../../conformance/wire/browser.ts';
import { type Platform, sendRaw, startPlatform } from './gate.ts';
import { NGINX } from './nginx.ts';

/** How an upgrade ended: the first message that came back, or the status of the refusal. */
function openSocket(
  url: string,
  headers: Readonly<Record<string, string>>,
  message = 'hello',
): Promise<string | number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | number | undefined>();
  const socket = new WebSocket(url.replace('http://localhost', 'ws://127.0.0.1'), {
    headers: { host: new URL(url).host, ...headers },
  });
  socket.on('open', () => socket.send(message));
  socket.on('message', (data: Buffer) => {
    socket.close();
    resolve(data.toString());
  });
  socket.on('unexpected-response', (_, response) => {
    response.resume();
    resolve(response.statusCode);
  });
  socket.on('error', reject);
  return promise;
}

describe.skipIf(NGINX.isLeftOut)('nginx: WebSocket and streams', () => {
  let platform: Platform;
  let cookie: string;
  beforeAll(async () => {
    platform = await startPlatform();
    const visitor = new Browser();
    await platform.signIn(visitor);
    cookie = `core_session=${visitor.cookie('localhost', 'core_session')}`;
  });
  afterAll(() => platform.stop());
  beforeEach(() => void platform.arrived());

  it('lets a WebSocket of the own origin pass, with the session', async () => {
    const { url } = platform;
    expect(await openSocket(`${url}/org/socket`, { cookie, origin: url })).toBe('hello');
    expect(platform.arrived()).toEqual(['organizations /org/socket']);
  });

  it('passes the upgrade to the check, and the identity of the caller to the backend', async () => {
    const { url } = platform;
    await openSocket(`${url}/org/socket`, { cookie, origin: url, 'x-user-subject': 'evil' });
    const check = platform.backend('admin').seen.find(({ path }) => path === '/me');
    expect(check?.headers.upgrade).toBe('websocket');
    expect(check?.headers['sec-websocket-key']).toMatch(/^[\w+/]{22}==$/);
    const [arrived] = platform.backend('organizations').seen;
    expect(arrived?.headers['x-user-subject']).toBe('ada');
    expect(arrived?.headers).not.toHaveProperty('cookie');
  });

  it.each([
    ['of another origin', { origin: 'https://evil.example' }],
    ['of an opaque origin', { origin: 'null' }],
    ['that another site opens', { 'sec-fetch-site': 'cross-site' }],
  ])('refuses a WebSocket %s with 403, although the cookie is right', async (_, headers) => {
    expect(await openSocket(`${platform.url}/org/socket`, { cookie, ...headers })).toBe(403);
    expect(platform.arrived()).toEqual([]);
  });

  it('refuses the upgrade of another origin without a WebSocket key too', async () => {
    const answer = await sendRaw(
      platform.url,
      `GET /org/socket HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nOrigin: https://evil.example\r\nConnection: Upgrade, close\r\nUpgrade: WebSocket\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(platform.arrived()).toEqual([]);
  });

  it.each([
    ['without a session', {}],
    ['with a made-up session', { cookie: `core_session=AAAAAAAA.${'A'.repeat(43)}` }],
    ['of a page, not as a navigation', { 'sec-fetch-mode': 'navigate', accept: 'text/html' }],
  ])('refuses a WebSocket %s with 401', async (_, headers) => {
    expect(await openSocket(`${platform.url}/org/socket`, headers)).toBe(401);
    expect(platform.arrived()).toEqual([]);
  });

  it('passes no upgrade on but to WebSocket', async () => {
    const answer = await sendRaw(
      platform.url,
      `GET /org HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    const [arrived] = platform.backend('organizations').seen;
    expect(arrived?.headers).not.toHaveProperty('upgrade');
    expect(arrived?.headers).not.toHaveProperty('http2-settings');
    expect(arrived?.headers).not.toHaveProperty('connection');
  });

  it('passes each event of a stream on before the next is sent', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<ServerResponse>();
    const { promise: received, resolve: receive } = Promise.withResolvers<readonly string[]>();
    platform.backend('organizations').answer = (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.flushHeaders();
      open(res);
    };
    const { port } = new URL(platform.url);
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: '/org/events',
        headers: { cookie, accept: 'text/event-stream' },
      },
      (response) => {
        // Each is sent only once the one before has arrived, so none can have waited for the next.
        const next = ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n'];
        const arrived: string[] = [];
        const send = async () => {
          const stream = await opened;
          const event = next.shift();
          if (event === undefined) stream.end();
          else stream.write(event);
        };
        response.setEncoding('utf8');
        response.on('data', (event: string) => {
          arrived.push(event);
          void send();
        });
        response.on('end', () => receive(arrived));
        void send();
      },
    );
    sent.end();
    expect(await received).toEqual(['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']);
  });

  it('ends the request to the backend when the client of a stream goes away', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    platform.backend('organizations').answer = (_, res) => {
      res.once('close', resolve);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: first\n\n');
    };
    const { port } = new URL(platform.url);
    const sent = request(
      { host: '127.0.0.1', port, path: '/org/events', headers: { cookie } },
      (response) => response.once('data', () => sent.destroy()),
    );
    sent.on('error', () => {});
    sent.end();
    await gone;
  });
});
