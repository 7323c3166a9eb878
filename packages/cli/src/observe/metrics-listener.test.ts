import { request as httpRequest } from 'node:http';
import { connect, Server } from 'node:net';
import { SallyportError } from '@sallyport/protocol';
import { freePort } from '@sallyport/testing/wire/ports';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Exposition, listenForScrapes } from './metrics-listener.ts';

const HOST = '127.0.0.1';
const EXPOSED: Exposition = { contentType: 'text/plain; version=0.0.4', text: 'sallyport_up 1\n' };

async function listen(expose: () => Promise<Exposition> = async () => EXPOSED, port = 0) {
  const lines: string[] = [];
  const listener = await listenForScrapes({ host: HOST, port }, expose, (level, event) =>
    lines.push(`${level} ${event}`),
  );
  onTestFinished(() => listener.close());
  return { port: listener.port, lines };
}

function ask(port: number, path: string, method = 'GET') {
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly status: number | undefined;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly body: string;
  }>();
  httpRequest({ host: HOST, port, path, method, agent: false }, (response) => {
    let body = '';
    response.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    response.on('end', () =>
      resolve({ status: response.statusCode, headers: response.headers, body }),
    );
  })
    .on('error', reject)
    .end();
  return promise;
}

describe('The port of the metrics', () => {
  it('answers GET /metrics with the text, to be kept by no cache', async () => {
    const { port } = await listen();
    const { status, headers, body } = await ask(port, '/metrics');
    expect([status, body]).toEqual([200, EXPOSED.text]);
    expect(headers).toMatchObject({
      'content-type': EXPOSED.contentType,
      'content-length': '15',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect((await ask(port, '/metrics?format=prometheus')).body).toBe(EXPOSED.text);
  });

  it('goes on after a connection that could not be taken, and says so', async () => {
    const listening = vi.spyOn(Server.prototype, 'listen');
    onTestFinished(() => listening.mockRestore());
    const { port, lines } = await listen();
    const [server] = listening.mock.contexts;
    if (!(server instanceof Server)) throw new Error('no server listens');
    server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
    expect(lines).toEqual(['error scrape_failed']);
    expect((await ask(port, '/metrics')).status).toBe(200);
  });

  it('is open to a new scrape while other clients keep connections: the oldest connection is closed', async () => {
    const { port } = await listen();
    const { promise: turnedAway, resolve } = Promise.withResolvers<void>();
    const half = 'GET /metrics HTTP/1.1\r\nHost: x\r\n';
    for (let count = 0; count < 40; count += 1) {
      const socket = connect(port, HOST, () => socket.write(half));
      socket.on('error', () => {});
      socket.on('close', resolve);
      onTestFinished(() => void socket.destroy());
    }
    await turnedAway;
    for (let count = 0; count < 40; count += 1)
      expect((await ask(port, '/metrics')).status).toBe(200);
  });

  it('answers HEAD with the same head and no body', async () => {
    const { port } = await listen();
    const { status, headers, body } = await ask(port, '/metrics', 'HEAD');
    expect([status, headers['content-length'], body]).toEqual([200, '15', '']);
  });

  it.each([
    '/',
    '/metrics/',
    '/metrics/x',
    '//metrics',
    '/Metrics',
    '/%6detrics',
    '/me',
    '/login',
    '/healthz',
    '/..%2fmetrics',
    '/?/metrics',
    '*',
  ])('answers %s with 404', async (path) => {
    const { port } = await listen();
    expect(await ask(port, path)).toMatchObject({ status: 404, body: '' });
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'])(
    'answers %s with 405 and what is allowed, and 404 elsewhere',
    async (method) => {
      const { port } = await listen();
      const { status, headers } = await ask(port, '/metrics', method);
      expect([status, headers['allow'], headers['connection']]).toEqual([
        405,
        'GET, HEAD',
        'close',
      ]);
      expect((await ask(port, '/', method)).status).toBe(404);
    },
  );

  it('reads the metrics once for all scrapes at the same time, and again for a later one', async () => {
    let asked = 0;
    const waiting = Promise.withResolvers<Exposition>();
    const { port } = await listen(() => {
      asked += 1;
      return asked === 1 ? waiting.promise : Promise.resolve(EXPOSED);
    });
    const both = [ask(port, '/metrics'), ask(port, '/metrics')];
    await expect.poll(() => asked).toBe(1);
    waiting.resolve(EXPOSED);
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    await ask(port, '/metrics');
    expect(asked).toBe(2);
  });

  it('answers 500 without a reason when it cannot decide, says so in the log, and goes on', async () => {
    let fails = true;
    const { port, lines } = await listen(() =>
      fails ? Promise.reject(new Error('secret')) : Promise.resolve(EXPOSED),
    );
    expect(await ask(port, '/metrics')).toMatchObject({ status: 500, body: '' });
    expect(lines).toEqual(['error scrape_failed']);
    fails = false;
    expect((await ask(port, '/metrics')).status).toBe(200);
  });

  it('that is taken is reported by its key', async () => {
    const { port } = await listen();
    const second = listenForScrapes(
      { host: HOST, port },
      async () => EXPOSED,
      () => {},
    );
    await expect(second).rejects.toThrow(SallyportError);
    await expect(second).rejects.toMatchObject({
      code: 'SP_PORT_IN_USE',
      component: `${HOST}:${port}`,
    });
    await expect(second).rejects.toThrow(/observe\.metrics\.port/);
  });

  it('on an address that this machine does not have is reported by its key, with what to do', async () => {
    const host = '203.0.113.7';
    const listener = listenForScrapes(
      { host, port: 0 },
      async () => EXPOSED,
      () => {},
    );
    await expect(listener).rejects.toMatchObject({
      code: 'SP_LISTEN_FAILED',
      message: `SP_LISTEN_FAILED (${host}:0): observe.metrics.host: this machine has no address ${host}; use 127.0.0.1, or 0.0.0.0 for every address`,
    });
  });

  it('refuses a head that is larger than any scraper sends, and ends the connection', async () => {
    const { port } = await listen();
    const socket = connect(port, HOST);
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    socket.on('close', () => resolve(received));
    socket.write(`GET /metrics HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(20_000)}`);
    expect(await ended).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('closes at once, also while clients are connected', async () => {
    const listener = await listenForScrapes(
      { host: HOST, port: await freePort() },
      async () => EXPOSED,
      () => {},
    );
    const socket = connect(listener.port, HOST);
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await listener.close();
    await ended;
    await expect(ask(listener.port, '/metrics')).rejects.toThrow('ECONNREFUSED');
  });
});
