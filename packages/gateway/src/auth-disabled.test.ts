import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startGateway } from '@sallyport/testing/gateway/running-gateway';
import { describe, expect, it, onTestFinished } from 'vitest';

/** A gateway without a verdict, in front of a backend that has none of our endpoints. */
async function startWithoutUseAuth() {
  const arrived: string[] = [];
  const backend = createServer((req, res) => {
    arrived.push(req.url ?? '');
    res.writeHead(404).end();
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  onTestFinished(() => {
    backend.closeAllConnections();
    backend.close();
  });
  const { port } = backend.address() as AddressInfo;
  const { origin } = await startGateway(
    { http: `http://127.0.0.1:${port}` },
    { answer: undefined },
  );
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(origin + path, { headers, redirect: 'manual' });
  return { ask, arrived };
}

describe('Requirement, "Errors": without useAuth', () => {
  it.each(['/', '/console/x?y=1', '/loginx'])(
    'refuses the protected path %s with 503 instead of redirecting to a /login that does not exist',
    async (path) => {
      const { ask, arrived } = await startWithoutUseAuth();
      for (const headers of [{ 'sec-fetch-mode': 'navigate' }, { cookie: 'core_session=good' }]) {
        const refused = await ask(path, headers);
        expect(refused.status).toBe(503);
        expect(refused.headers.get('location')).toBeNull();
        expect(await refused.json()).toMatchObject({ reason: 'auth_disabled' });
      }
      expect(arrived).toEqual([]);
    },
  );

  it('passes an unprotected path on, and its 404 back', async () => {
    const { ask, arrived } = await startWithoutUseAuth();
    expect((await ask('/login')).status).toBe(404);
    expect(arrived).toEqual(['/login']);
  });
});
