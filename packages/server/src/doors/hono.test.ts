import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import {
  ADA_IDENTITY,
  createFixedCheck,
  PUBLIC_ORIGIN,
} from '@sallyport/testing/server/fixed-check';
import { talk } from '@sallyport/testing/wire/wire-client';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AuthEnv, createAuthMiddleware } from './hono.ts';

function createApp(
  options: { readonly redirectsPages?: boolean } = {},
  answer = () => new Response('handled'),
) {
  const { check, asked } = createFixedCheck();
  const callers: unknown[] = [];
  const app = new Hono<AuthEnv>();
  app.get('/open', (context) => context.text('open'));
  app.use('/api/*', createAuthMiddleware({ check, publicOrigin: PUBLIC_ORIGIN, ...options }));
  app.all('/api/*', (context) => {
    callers.push(context.get('principal'), context.get('user').name);
    return answer();
  });
  return { app, asked, callers };
}

/** What lets shared caches keep an answer. */
const GRANTS = {
  'cache-control': 'public, max-age=60',
  'cdn-cache-control': 'public',
  'surrogate-control': 'max-age=60',
  'x-accel-expires': '60',
};
const bearer = (token: string) => ({ 'core-http': `Bearer ${token}` });

describe('the middleware of a Hono service', () => {
  it.each(['good', 'slow'])(
    'a good credential (%s) gets through, and the handler knows whose it is',
    async (token) => {
      const { app, callers } = createApp();
      const response = await app.request('/api/x', { headers: bearer(token) });
      expect(await response.text()).toBe('handled');
      expect(callers).toEqual([ADA_IDENTITY.principal, 'Ada Lovelace']);
    },
  );

  it.each([
    ['none', {}, 401, 'no_credential'],
    ['a bad one', bearer('bad'), 401, 'bearer_not_accepted'],
    ['two', bearer('good, Bearer good2'), 401, 'ambiguous_credentials'],
    ['one that may not enter', bearer('forbidden'), 403, 'not_allowed'],
    ['one that is undecided', bearer('outage'), 503, 'store_unavailable'],
    ['one in the header of gRPC', { 'core-grpc': 'Bearer good' }, 401, 'no_credential'],
  ])(
    '%s is refused with a problem document, and the handler never runs',
    async (_, headers, status, reason) => {
      const { app, callers } = createApp();
      const response = await app.request('/api/x', { headers });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.json()).toMatchObject({ status, reason });
      expect(callers).toEqual([]);
    },
  );

  it('a page load is 401 behind an ingress, which does the redirecting', async () => {
    const { app } = createApp();
    const response = await app.request('/api/x?y=1', { headers: { accept: 'text/html' } });
    expect([response.status, response.headers.get('location')]).toEqual([401, null]);
  });

  it('a page load is sent to sign in where people come without one, and comes back to the page', async () => {
    const { app } = createApp({ redirectsPages: true });
    const response = await app.request('/api/x?y=1', { headers: { accept: 'text/html' } });
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe(
      `${PUBLIC_ORIGIN}/login?redirect_url=%2Fapi%2Fx%3Fy%3D1`,
    );
  });

  it('a gRPC-Web call is refused in its own protocol', async () => {
    const { app } = createApp();
    const headers = { 'content-type': 'application/grpc-web+proto' };
    const response = await app.request('/api/x', { method: 'POST', headers });
    expect([response.status, response.headers.get('grpc-status')]).toEqual([200, '16']);
  });

  it('a route outside is open', async () => {
    const { app, asked } = createApp();
    expect(await (await app.request('/open')).text()).toBe('open');
    expect(asked).toEqual([]);
  });

  it('slides the session cookie, beside cookies of the route', async () => {
    const { app } = createApp({}, () => new Response('', { headers: { 'set-cookie': 'own=1' } }));
    const response = await app.request('/api/x', { headers: bearer('slid') });
    expect(response.headers.getSetCookie()).toEqual(['own=1', '__Host-core_session=slid; Path=/']);
  });

  it('lets no shared cache keep what the session cookie is added to, and leaves the rest alone', async () => {
    const { app } = createApp({}, () => new Response('', { headers: GRANTS }));
    const ask = async (token: string) =>
      (await app.request('/api/x', { headers: bearer(token) })).headers;
    const slid = await ask('slid');
    expect(slid.get('cache-control')).toBe('private, max-age=60');
    for (const name of ['cdn-cache-control', 'surrogate-control', 'x-accel-expires'])
      expect(slid.get(name)).toBeNull();
    expect(Object.fromEntries(await ask('good'))).toMatchObject(GRANTS);
  });

  it('a header sent twice is two credentials, over the wire', async () => {
    const { app, callers } = createApp();
    const server = serve({
      ...{ fetch: app.fetch, port: 0, hostname: '127.0.0.1' },
      overrideGlobalObjects: false,
    });
    onTestFinished(() => void server.close());
    if (!server.listening) await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const twice = 'core-http: Bearer good\r\ncore-http: Bearer good\r\n';
    const request = (headers: string) =>
      talk(port, `GET /api/x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${headers}\r\n`);
    expect(await request(twice)).toMatch(/^HTTP\/1\.1 401 .*ambiguous_credentials/s);
    expect(callers).toEqual([]);
    expect(await request('core-http: Bearer good\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });
});
