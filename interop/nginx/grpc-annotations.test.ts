import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Answer } from './backend.ts';
import { type Gate, startGate } from './gate.ts';
import {
  type GrpcBackend,
  metadataOf,
  openClient,
  SERVICES,
  startGrpcBackend,
} from './grpc-backend.ts';
import { NGINX } from './nginx.ts';

describe.skipIf(NGINX.isLeftOut)(
  'What the annotations of gRPC routes ask for, by the recipe for nginx, which carries none',
  () => {
    let grpc: GrpcBackend;
    let gate: Gate;
    let answer: Answer;
    beforeAll(async () => {
      grpc = await startGrpcBackend();
      gate = await startGate((seen, res) => answer(seen, res), { grpc: grpc.address });
    });
    afterAll(async () => {
      await gate.stop();
      grpc.close();
    });
    beforeEach(() => {
      grpc.seen.length = 0;
    });

    /** Headers of the answer to one call, and how it ended. */
    async function call(headers: Readonly<Record<string, string>> = {}) {
      const client = openClient(gate.http2, 'unary');
      onTestFinished(() => client.close());
      const initial = Promise.withResolvers<ReadonlyMap<string, readonly unknown[]>>();
      const status = Promise.withResolvers<number>();
      const sent = client.once('x', metadataOf(headers), () => {});
      sent.on('metadata', (metadata) => {
        const names = Object.keys(metadata.getMap());
        initial.resolve(new Map(names.map((name) => [name, metadata.get(name)])));
      });
      sent.on('status', ({ code }) => status.resolve(code));
      return { headers: await initial.promise, status: await status.promise };
    }

    const COOKIE = 'core_session=slid; Max-Age=9';

    it('auth-url: each call is asked about at /me, and an admitted one reaches the backend', async () => {
      const asked: string[] = [];
      answer = ({ path, headers }, res) => {
        asked.push(`${path} ${headers['core-authorization']}`);
        res.writeHead(200).end();
      };
      expect((await call({ 'core-authorization': 'Bearer one' })).status).toBe(0);
      expect((await call({ 'core-authorization': 'Bearer two' })).status).toBe(0);
      expect(asked).toEqual(['/me Bearer one', '/me Bearer two']);
      expect(grpc.seen.map(({ path }) => path)).toEqual(
        Array.from({ length: 2 }, () => `/${SERVICES.unary}/Once`),
      );
    });

    it('auth-response-headers: Set-Cookie of the check reaches the caller, once', async () => {
      answer = (_, res) => res.writeHead(200, { 'set-cookie': COOKIE }).end();
      const { headers, status } = await call();
      expect([status, headers.get('set-cookie')]).toEqual([0, [COOKIE]]);
    });

    it('auth-response-headers: no other header of the check does, and no Set-Cookie where it sets none', async () => {
      answer = (_, res) => res.writeHead(200, { 'x-user-subject': 'ada', 'x-other': '1' }).end();
      const { headers, status } = await call({ 'set-cookie': COOKIE, cookie: 'core_session=own' });
      expect(status).toBe(0);
      expect([...headers.keys()]).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(?:set-cookie|x-user-.*|x-other)$/)]),
      );
    });
  },
);
