import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createApiKeyAdminClient } from '../api-keys/admin-client.ts';
import { createKeycloakAdmin } from '../provision/keycloak/admin-api.ts';
import { exchangeJson, membersOf } from './exchange-json.ts';

const KIB = 1_024;
const MIB = KIB * KIB;
const LIMITS = { timeoutMs: 20_000, bodyMaxBytes: KIB };

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends for as long as someone reads. */
const endless: RequestListener = (_, res) => {
  const piece = Buffer.alloc(64 * KIB, ' ');
  const more = (): void => {
    while (!res.destroyed && res.write(piece));
  };
  res.on('drain', more);
  more();
};

/** A JSON text of so many bytes. */
const jsonOf = (bytes: number): string => `"${'a'.repeat(bytes - 2)}"`;

describe('An answer of an identity provider', () => {
  it('of exactly the limit is read', async () => {
    const url = await serve((_, res) => res.end(jsonOf(KIB)));
    const answer = await exchangeJson(fetch, url, {}, LIMITS);
    expect(answer).toEqual({ status: 200, json: 'a'.repeat(KIB - 2) });
  });

  it('of one byte more is not', async () => {
    const url = await serve((_, res) => res.end(jsonOf(KIB + 1)));
    await expect(exchangeJson(fetch, url, {}, LIMITS)).rejects.toThrow('more than 1024 bytes');
  });

  it('without an end is given up at the limit, and the connection with it', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const url = await serve((req, res) => {
      res.once('close', resolve);
      endless(req, res);
    });
    await expect(exchangeJson(fetch, url, {}, LIMITS)).rejects.toThrow('more than 1024 bytes');
    await closed;
  });

  it('counts as it is unpacked: a small one that unpacks to a large one is refused', async () => {
    const packed = gzipSync(jsonOf(MIB));
    const url = await serve((_, res) => {
      res.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    });
    const limits = { ...LIMITS, bodyMaxBytes: packed.byteLength * 4 };
    await expect(exchangeJson(fetch, url, {}, limits)).rejects.toThrow('more than');
    const enough = { ...LIMITS, bodyMaxBytes: MIB };
    expect((await exchangeJson(fetch, url, {}, enough)).json).toHaveLength(MIB - 2);
  });

  it('that stops in the middle ends with the time, and not later', async () => {
    const url = await serve((_, res) => res.writeHead(200).write('{'));
    await expect(exchangeJson(fetch, url, {}, { ...LIMITS, timeoutMs: 50 })).rejects.toThrow(
      'timeout',
    );
  });

  it('that leads elsewhere is not followed: no other address gets the credentials', async () => {
    const asked: unknown[] = [];
    const url = await serve((req, res) => {
      asked.push(req.url);
      res.writeHead(307, { location: '/elsewhere' }).end();
    });
    const init = { headers: { authorization: 'Bearer canary' } };
    expect((await exchangeJson(fetch, url, init, LIMITS)).status).toBe(307);
    expect(asked).toEqual(['/']);
  });

  it.each(['', '<html>canary</html>', '{"value":"canary'])(
    'that is no JSON (%j) has no value, and no error quotes it',
    async (text) => {
      const url = await serve((_, res) => res.end(text));
      expect(await exchangeJson(fetch, url, {}, LIMITS)).toEqual({ status: 200, json: undefined });
    },
  );
});

describe('Members of an answer', () => {
  it('are those of an object', () => {
    expect(membersOf({ a: 1 })).toEqual({ a: 1 });
  });

  it.each([undefined, null, 'text', 1, ['a']])('are none of %j', (json) => {
    expect(membersOf(json)).toEqual({});
  });
});

describe('An answer without an end', () => {
  it('is given up by the administration of API keys', async () => {
    const url = await serve(endless);
    const issuer = createApiKeyAdminClient({ url, token: 'canary', fetch });
    await expect(issuer.list()).rejects.toThrow(
      'SP_IDP_PROTOCOL (idp): the administration of API keys answered with more than 4194304 bytes',
    );
  });

  it('is given up by the administration of a Keycloak, after the token and before it', async () => {
    const url = await serve((req, res) => {
      if (req.url?.endsWith('/token') === true)
        res.end(JSON.stringify({ access_token: 'canary', expires_in: 60 }));
      else endless(req, res);
    });
    const options = {
      adminRealm: 'master',
      credentials: { kind: 'user', username: 'admin', password: 'canary' },
      fetch,
    } as const;
    await expect(createKeycloakAdmin({ ...options, url }).get('/a')).rejects.toThrow(
      'SP_IDP_PROTOCOL (keycloak): GET /admin/realms/a answered with more than 16777216 bytes',
    );
    server?.close();
    const other = await serve(endless);
    await expect(createKeycloakAdmin({ ...options, url: other }).get('/a')).rejects.toThrow(
      'answered with more than 16777216 bytes',
    );
  });
});
