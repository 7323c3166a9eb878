import type { ServerResponse } from 'node:http';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import {
  ADA_IDENTITY,
  createFixedCheck,
  PUBLIC_ORIGIN,
  SLID_COOKIE,
} from '@sallyport/testing/server/fixed-check';
import { talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpResponse } from '../listener/connections.ts';
import { listenOnOnePort } from '../listener/http-service.ts';
import { createNodeDoor } from './node-http.ts';

/** What lets shared caches keep an answer, and a cookie of the handler's own. */
const GRANTS: Readonly<Record<string, string>> = {
  'cache-control': 'public, max-age=60',
  'cdn-cache-control': 'public',
  'surrogate-control': 'max-age=60',
  'x-accel-expires': '60',
  'set-cookie': 'own=1',
};

async function start(write: (res: HttpResponse) => void = () => {}) {
  const { check } = createFixedCheck();
  const door = createNodeDoor({ check, publicOrigin: PUBLIC_ORIGIN });
  const callers: unknown[] = [];
  const listener = await listenOnOnePort(
    (req, res) =>
      door(req, res, ({ principal }) => {
        callers.push(principal);
        write(res);
        res.end('handled');
      }),
    { port: 0, host: '127.0.0.1', timeouts: { drainMs: 50 } },
  );
  onTestFinished(() => listener.close());
  return { callers, port: listener.port, url: `http://127.0.0.1:${listener.port}/x` };
}

const bearer = (token: string) => ({ 'core-http': `Bearer ${token}` });

describe('the door of a node:http service', () => {
  it.each(['good', 'slow'])(
    'a good credential (%s) gets through, and the handler knows whose it is',
    async (token) => {
      const { url, callers } = await start();
      expect(await (await fetch(url, { headers: bearer(token) })).text()).toBe('handled');
      expect(callers).toEqual([ADA_IDENTITY.principal]);
    },
  );

  it.each([
    ['none', {}, 401, 'no_credential'],
    ['a bad one', bearer('bad'), 401, 'bearer_not_accepted'],
    ['one that may not enter', bearer('forbidden'), 403, 'not_allowed'],
    ['one that is undecided', bearer('outage'), 503, 'store_unavailable'],
  ])(
    '%s is refused with a problem document, and the handler never runs',
    async (_, headers, status, reason) => {
      const { url, callers } = await start();
      const response = await fetch(url, { headers });
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ status, reason });
      expect(callers).toEqual([]);
    },
  );

  it('the same header twice is ambiguous, over HTTP/1.1', async () => {
    const { port, callers } = await start();
    const answer = await talk(
      port,
      'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncore-http: Bearer good\r\nCore-HTTP: Bearer good\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 .*ambiguous_credentials/s);
    expect(callers).toEqual([]);
  });

  it('slides the session cookie', async () => {
    const { url } = await start();
    const response = await fetch(url, { headers: bearer('slid') });
    expect(response.headers.getSetCookie()).toEqual([SLID_COOKIE]);
  });

  const NAMES = Object.keys(GRANTS);
  it.each<readonly [string, (res: HttpResponse) => void]>([
    ['one by one', (res) => void NAMES.map((name) => res.setHeader(name, GRANTS[name] ?? ''))],
    ['in an object', (res) => void (res as ServerResponse).writeHead(200, GRANTS)],
    ['with a reason', (res) => void (res as ServerResponse).writeHead(200, 'Fine', GRANTS)],
    [
      'in a list',
      (res) => void (res as ServerResponse).writeHead(200, Object.entries(GRANTS).flat()),
    ],
  ])(
    'lets no shared cache keep what the session cookie is added to, with headers given %s',
    async (_, write) => {
      const { url } = await start(write);
      const ask = async (token: string) => (await fetch(url, { headers: bearer(token) })).headers;
      const slid = await ask('slid');
      expect(slid.getSetCookie()).toEqual(['own=1', SLID_COOKIE]);
      expect(slid.get('cache-control')).toBe('private, max-age=60');
      for (const name of ['cdn-cache-control', 'surrogate-control', 'x-accel-expires'])
        expect(slid.get(name)).toBeNull();
      expect(Object.fromEntries(await ask('good'))).toMatchObject(GRANTS);
    },
  );

  it('lets no shared cache keep it over HTTP/2 either', async () => {
    const { port } = await start((res) => (res as ServerResponse).writeHead(200, GRANTS));
    const session = connect(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':path': '/x', ...bearer('slid') });
    const { promise, resolve } = Promise.withResolvers<IncomingHttpHeaders>();
    stream.on('response', resolve);
    const headers = await promise;
    expect(headers['set-cookie']).toEqual(['own=1', SLID_COOKIE]);
    expect(headers['cache-control']).toBe('private, max-age=60');
    expect(headers).not.toHaveProperty('cdn-cache-control');
  });

  it.each([
    ['application/grpc', 'application/grpc'],
    ['application/grpc+proto', 'application/grpc'],
    ['application/grpc-web', 'application/grpc-web'],
    ['application/grpc-web-text', 'application/grpc-web'],
  ])(
    'a call of %s is refused with headers alone, END_STREAM on them',
    async (contentType, answered) => {
      const { port } = await start();
      const session = connect(`http://127.0.0.1:${port}`);
      onTestFinished(() => session.destroy());
      const stream = session.request({
        ':method': 'POST',
        ':path': '/a.B/C',
        'content-type': contentType,
      });
      stream.end();
      const { promise, resolve } = Promise.withResolvers<unknown>();
      stream.on('response', (headers, flags) =>
        resolve([headers[':status'], headers['grpc-status'], headers['content-type'], flags & 1]),
      );
      expect(await promise).toEqual([200, '16', answered, 1]);
    },
  );
});
