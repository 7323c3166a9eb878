import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort, isTaken } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import {
  type Service,
  startHostedService,
  startService,
  WEB_CLIENT_ID,
  WEB_CLIENT_SECRET,
} from '../wire/platform.ts';
import { run, temporaryFolder } from '../wire/process.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import { PATIENCE } from '../wire/workers.ts';

import { scrape } from './scrape.ts';

const cookieOf = (browser: Browser) =>
  `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;

describe('The port of the metrics', () => {
  let service: Service;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    service = await startHostedService({ SALLYPORT_METRICS_PORT: String(port) });
  });
  afterAll(() => service.stop());
  const ask = (path: string, method = 'GET') =>
    exchange(`http://127.0.0.1:${port}${path}`, { method });

  it.each([
    '/',
    '/me',
    '/login',
    '/callback',
    '/logout',
    '/healthz',
    '/readyz',
    '/auth/jwks',
    '/metrics/',
    '/debug/pprof',
  ])('answers nothing at %s', async (path) => {
    const { status, body, setCookies, location } = await ask(path);
    expect([status, body, setCookies, location]).toEqual([404, '', [], undefined]);
  });

  it('takes GET and HEAD alone', async () => {
    expect((await ask('/metrics', 'HEAD')).status).toBe(200);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect((await ask('/metrics', method)).status).toBe(405);
  });

  it('is another one than the public port, which has no metrics', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    for (const [headers, expected] of [
      [{}, 401],
      [{ cookie: cookieOf(browser) }, 404],
    ] as const) {
      const { status, body } = await exchange(`${service.url}/metrics`, { headers });
      expect([status, body.includes('sallyport_')]).toEqual([expected, false]);
    }
    expect((await ask('/metrics')).body).toContain('sallyport_');
  });

  it('is on the loopback unless the configuration says otherwise', async () => {
    expect(await isTaken(port)).toBe(true);
    // Listened for on 127.0.0.1 alone: another address of the loopback network is free.
    await expect(exchange(`http://127.0.0.2:${port}/metrics`)).rejects.toThrow('ECONNREFUSED');
  });

  it('cuts off who begins a request and does not end it', async () => {
    const socket = connect(port, '127.0.0.1');
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => {});
    socket.resume();
    socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n');
    await ended;
    expect((await ask('/metrics')).status).toBe(200);
  });

  it('that is taken keeps serve from starting, and is named', async () => {
    const folder = temporaryFolder();
    const secretFile = join(folder.path, 'secret');
    writeFileSync(secretFile, WEB_CLIENT_SECRET, { mode: 0o600 });
    for (const workers of ['1', '2']) {
      const { code, stdout, stderr } = await run(['serve', '--port', String(await freePort())], {
        PUBLIC_URL: 'http://localhost:1',
        OIDC_BASE_URL: service.idp.issuer,
        OIDC_CLIENT_ID: WEB_CLIENT_ID,
        CLI_CLIENT_ID: 'cli-client',
        OIDC_CLIENT_SECRET_FILE: secretFile,
        SALLYPORT_STATE_DIRECTORY: folder.path,
        SALLYPORT_METRICS_PORT: String(port),
        SALLYPORT_WORKERS: workers,
      });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(`SP_PORT_IN_USE (127.0.0.1:${port})`);
      expect(stderr).toContain('observe.metrics.port');
    }
    folder.remove();
  });

  it('keeps no process that could not start: the public port taken, it ends and says so', async () => {
    const folder = temporaryFolder();
    const secretFile = join(folder.path, 'secret');
    writeFileSync(secretFile, WEB_CLIENT_SECRET, { mode: 0o600 });
    const { code, stdout, stderr } = await run(['serve', '--port', String(port)], {
      PUBLIC_URL: 'http://localhost:1',
      OIDC_BASE_URL: service.idp.issuer,
      OIDC_CLIENT_ID: WEB_CLIENT_ID,
      CLI_CLIENT_ID: 'cli-client',
      OIDC_CLIENT_SECRET_FILE: secretFile,
      SALLYPORT_STATE_DIRECTORY: folder.path,
      SALLYPORT_METRICS_PORT: String(await freePort()),
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`SP_PORT_IN_USE (127.0.0.1:${port})`);
    folder.remove();
  });
});

describe('Without a port for metrics', () => {
  /** Says in the log when the library is loaded, which stands in a chunk of its own in the bundle. */
  const watched = {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(
      "import { registerHooks } from 'node:module'; registerHooks({ resolve(s, c, next) { if (s.endsWith('/prometheus.js')) process.stderr.write('prom-client is loaded\\n'); return next(s, c); } });",
    )}`,
  };

  it('their library is not loaded', async () => {
    const service = await startService(watched);
    await service.signIn(new Browser());
    expect(service.running.stderr()).not.toContain('prom-client is loaded');
    await service.stop();
  });

  it('and with one it is, by the first scrape', async () => {
    const port = await freePort();
    const service = await startService({ ...watched, SALLYPORT_METRICS_PORT: String(port) });
    expect(service.running.stderr()).not.toContain('prom-client is loaded');
    await scrape(port);
    await expect.poll(() => service.running.stderr(), PATIENCE).toContain('prom-client is loaded');
    await service.stop();
  });
});
