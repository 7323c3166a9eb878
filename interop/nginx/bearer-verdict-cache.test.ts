import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Plane, startPlane } from '../../conformance/wire/platform.ts';
import type { Answer } from './backend.ts';
import { callOnce, type EchoClient, openClient, startGrpcBackend } from './grpc-backend.ts';
import { type Ingress, startIngress } from './ingress.ts';
import { NGINX } from './nginx.ts';

/** Headers of a caller. */
type Headers = Readonly<Record<string, string>>;

/** An ingress of one of the two kinds of route groups, in front of the plane's `/me`. */
interface Door {
  readonly ingress: Ingress;
  /** Whether a caller with these headers is let through. */
  ask(headers: Headers): Promise<boolean>;
  stop(): Promise<void>;
}

/** A token of the service application, by the grant `client_credentials`. */
async function fetchServiceToken({ state }: Plane): Promise<string> {
  const deployment = readFileSync(join(state, 'deployment.env'), 'utf8');
  const setting = (name: string) => new RegExp(`^${name}='([^']+)'$`, 'm').exec(deployment)?.[1];
  const secret = readFileSync(join(state, 'idp', 'service-client-secret'), 'utf8').trim();
  const basic = Buffer.from(`${setting('AUTH_CLIENT_ID')}:${secret}`).toString('base64');
  const { body } = await exchange(setting('AUTH_TOKEN_URL') ?? '', {
    method: 'POST',
    headers: {
      authorization: `Basic ${basic}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials&scope=all',
  });
  return JSON.parse(body).access_token;
}

/** Asks the real `/me`, and takes headers off its answer. */
function forwardWithout(url: string, left: () => ReadonlySet<string>): Answer {
  const { port } = new URL(url);
  return (seen, res) => {
    const { method, path, rawHeaders } = seen;
    const asked = request({ host: '127.0.0.1', port, method, path, headers: rawHeaders }, (me) => {
      for (const name of left()) delete me.headers[name];
      res.writeHead(me.statusCode ?? 0, me.headers);
      me.pipe(res);
    });
    asked.on('error', () => res.destroy());
    asked.end();
  };
}

const KEEP_AWAY: ReadonlySet<string> = new Set(['x-accel-expires', 'cache-control']);

describe.skipIf(NGINX.isLeftOut)('nginx: the requirement\'s "auth-cache-key" and bearers', () => {
  let plane: Plane;
  let bearer: string;
  let left: ReadonlySet<string>;
  beforeAll(async () => {
    plane = await startPlane();
    bearer = `Bearer ${await fetchServiceToken(plane)}`;
  });
  afterAll(() => plane.stop());
  beforeEach(() => {
    left = new Set();
  });

  async function openHttp(): Promise<Door> {
    const ingress = await startIngress(
      forwardWithout(plane.url, () => left),
      await freePort(),
    );
    return {
      ingress,
      ask: async (headers) => {
        const answer = await ingress.ask({ headers });
        expect([200, 401]).toContain(answer.status);
        return answer.status === 200;
      },
      stop: () => ingress.stop(),
    };
  }

  async function openGrpc(): Promise<Door> {
    const backend = await startGrpcBackend();
    const port = await freePort();
    const answer = forwardWithout(plane.url, () => left);
    const ingress = await startIngress(answer, port, backend.address);
    const client: EchoClient = openClient(`localhost:${port}`, 'unary');
    return {
      ingress,
      ask: async (headers) => {
        const code = await callOnce(client, headers);
        expect(['hello', status.UNAUTHENTICATED]).toContain(code);
        return code === 'hello';
      },
      async stop() {
        client.close();
        backend.close();
        await ingress.stop();
      },
    };
  }

  /** Callers without a credential that share the cache key of the caller with the bearer in `authorization`. */
  const OTHERS: readonly (readonly [
    key: string,
    who: string,
    open: () => Promise<Door>,
    headers: () => Headers,
  ])[] = [
    ['HTTP', 'an anonymous caller', openHttp, () => ({})],
    // This key holds the bearer; a caller with the same bytes where they are no credential shares it.
    ['gRPC', 'who sends its bytes as a cookie', openGrpc, () => ({ cookie: bearer })],
  ];

  it.each([
    ['HTTP', openHttp],
    ['gRPC', openGrpc],
  ] as const)(
    "With the requirement's literal cache key on real nginx, a bearer's verdict never admits an anonymous caller: %s key",
    async (_, open) => {
      const door = await open();
      try {
        for (const name of ['authorization', 'core-authorization']) {
          expect(await door.ask({ [name]: bearer })).toBe(true);
          expect(await door.ask({})).toBe(false);
          expect(await door.ask({ cookie: bearer })).toBe(false);
          // And the refusal is not kept from the bearer.
          expect(await door.ask({ [name]: bearer })).toBe(true);
        }
        expect(door.ingress.kept()).toBe(0);
        expect(door.ingress.check.seen).toHaveLength(8);
      } finally {
        await door.stop();
      }
    },
  );

  it.each(OTHERS)(
    'but it would without the headers /me sends: %s key, %s',
    async (_key, _who, open, headers) => {
      left = KEEP_AWAY;
      const door = await open();
      try {
        expect(await door.ask({ authorization: bearer })).toBe(true);
        expect(await door.ask(headers())).toBe(true);
        expect(door.ingress.kept()).toBe(1);
        expect(door.ingress.check.seen).toHaveLength(1);
      } finally {
        await door.stop();
      }
    },
  );

  it.each(OTHERS)(
    'X-Accel-Expires alone keeps the verdict from others: %s key, %s',
    async (_key, _who, open, headers) => {
      left = new Set(['cache-control']);
      const door = await open();
      try {
        expect(await door.ask({ authorization: bearer })).toBe(true);
        expect(await door.ask(headers())).toBe(false);
        expect(door.ingress.kept()).toBe(0);
      } finally {
        await door.stop();
      }
    },
  );
});
