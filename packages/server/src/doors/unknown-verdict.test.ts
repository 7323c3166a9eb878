import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PUBLIC_ORIGIN } from '@sallyport/testing/server/fixed-check';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpRequest, HttpResponse } from '../listener/connections.ts';
import type { Check } from '../verdict/check.ts';
import type { CheckRequest } from '../verdict/check-request.ts';
import type { Verdict } from '../verdict/verdict.ts';
import { answerByVerdict } from './answer-by-verdict.ts';
import { gatewayDoor } from './gateway.ts';
import { type AuthEnv, createAuthMiddleware } from './hono.ts';
import { createMeHandler } from './me.ts';
import { createNodeDoor } from './node-http.ts';
import { createSessionStatus } from './session-status.ts';

/** A kind of verdict that no door knows yet, as a cast or an old module would bring it. */
const UNKNOWN = { outcome: 'postponed' } as unknown as Verdict;
const REQUEST: CheckRequest = { method: 'GET', headers: {}, rawHeaders: [], transport: 'http' };
const publicOrigin = PUBLIC_ORIGIN;

/** Asks a handler of node:http once. */
async function statusOf(handler: (req: HttpRequest, res: HttpResponse) => void): Promise<number> {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return (await fetch(`http://127.0.0.1:${port}/me`)).status;
}

describe.each<[string, Check]>([
  ['at once', () => UNKNOWN],
  ['later', async () => UNKNOWN],
])('A kind of verdict that is not known, %s, admits at no door, and is answered', (_, check) => {
  it('/me', async () => {
    const me = createMeHandler({ check, publicOrigin });
    expect(await statusOf((req, res) => void me(req, res))).toBe(503);
  });

  it('the embedded gateway', async () => {
    const answer = gatewayDoor.handler({ check, publicOrigin });
    expect(await answer({ ...REQUEST, target: '/', requestId: 'request-1' })).toMatchObject({
      outcome: 'denied',
      status: 503,
    });
  });

  it('/auth/session', async () => {
    const status = createSessionStatus({ check, publicOrigin, now: () => 0 });
    expect((await status(REQUEST)).status).toBe(503);
  });

  it('a service on node:http', async () => {
    const door = createNodeDoor({ check, publicOrigin });
    expect(await statusOf((req, res) => door(req, res, () => res.end('inside')))).toBe(503);
  });

  it('a service on Hono', async () => {
    const app = new Hono<AuthEnv>();
    app.use('*', createAuthMiddleware({ check, publicOrigin }));
    app.get('/', (context) => context.text('inside'));
    expect((await app.request('/')).status).toBe(503);
  });

  it('a door whose shape of an answer throws', async () => {
    const status = await statusOf((req, res) =>
      answerByVerdict(check, req, res, () => {
        throw new TypeError('no answer to this');
      }),
    );
    expect(status).toBe(503);
  });

  it('a door whose answer cannot be sent', async () => {
    const status = await statusOf((req, res) =>
      answerByVerdict(check, req, res, () => ({
        status: 200,
        headers: { 'x-first': 'sent', 'x-second': 'two\nlines' },
        body: 'inside',
      })),
    );
    expect(status).toBe(503);
  });
});
