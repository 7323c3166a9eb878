import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from './wire/browser.ts';
import { exchange } from './wire/exchange.ts';
import { callGrpc } from './wire/grpc.ts';
import { type Plane, startPlane } from './wire/platform.ts';

/** An application that says which headers it was sent. */
const application = createServer((req, res) => {
  reached.push(req.url ?? '');
  res.end(JSON.stringify(req.rawHeaders));
});
const reached: string[] = [];
let plane: Plane;
beforeAll(async () => {
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  const { port } = application.address() as AddressInfo;
  plane = await startPlane(['--upstream', `http://127.0.0.1:${port}`]);
});
afterAll(async () => {
  await plane.stop();
  application.close();
});

describe('An application behind up --upstream', () => {
  it.each([
    '/',
    '/deep/link',
    '/api',
    '/api/x',
    '/cloudadmin',
    '/openapi',
    '/openapi/x',
    '/healthz',
    '/healthz/x',
    '/readyz',
    '/v1/x',
  ])('%s is not reached without a sign-in', async (path) => {
    const before = reached.length;
    expect((await exchange(plane.url + path)).status).toBe(401);
    expect(reached.length).toBe(before);
  });

  it.each(['/', '/openapi/x', '/healthz', '/api', '/api/v1/x', '/v1/x'])(
    '%s is reached after one, with who it was, and without what the client claimed',
    async (path) => {
      const browser = new Browser();
      await plane.signIn(browser, '/');
      const cookie = `core_session=${browser.cookie('localhost', 'core_session')}`;
      const claims = Object.fromEntries(
        ['x-user-subject', 'x_user_subject', 'x.user.subject', "x'user~subject"].map((name) => [
          name,
          'root',
        ]),
      );
      const answer = await exchange(plane.url + path, { headers: { cookie, ...claims } });
      expect(answer.status).toBe(200);
      const sent = JSON.parse(answer.body) as string[];
      expect(sent).not.toContain('root');
      expect(sent.join()).not.toContain('core_session');
      expect(sent[sent.indexOf('x-user-subject') + 1]).toBe('ada');
    },
  );

  it('discovery stays open, whatever deadline the caller sets', async () => {
    for (const timeout of ['99999999H', '5S', 'soon']) {
      const answer = await callGrpc(
        `${plane.url}/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig`,
        { headers: { 'grpc-timeout': timeout } },
      );
      expect([timeout, answer.status]).toEqual([timeout, timeout === 'soon' ? 3 : 0]);
    }
    expect(plane.running.stderr()).not.toContain('TimeoutOverflowWarning');
  });
});
