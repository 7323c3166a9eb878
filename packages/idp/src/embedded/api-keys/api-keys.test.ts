import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CLIENT_IDS,
  PUBLIC_URL,
  post,
  type RunningIdp,
  requestToken,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKeyAdminClient } from '../../api-keys/admin-client.ts';
import type { ApiKeyIssuer, IssuedApiKeyClient } from '../../api-keys/api-key-issuer.ts';

const TOKEN = 'canary-admin-token-of-32-characters';
const OWNER = { organization: 'acme', cluster: 'east-1' };
const GRANT = { grant_type: 'client_credentials', scope: 'all' };
const START = Date.UTC(2026, 0, 1);

let running: RunningIdp;
let issuer: ApiKeyIssuer;
let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'api-keys-'));
  running = await startIdp({ adminToken: TOKEN });
  issuer = createApiKeyAdminClient({ url: running.issuer, token: TOKEN, fetch });
});
afterAll(async () => {
  await running.close();
  await rm(place, { recursive: true, force: true });
});

async function create(from: ApiKeyIssuer = issuer, owner = OWNER): Promise<IssuedApiKeyClient> {
  const created = await from.create(owner);
  if (!created.ok) throw new Error(created.error);
  return created.value;
}

const tokenOf = (
  { clientId, clientSecret }: IssuedApiKeyClient,
  at: RunningIdp = running,
  fields: Readonly<Record<string, string>> = GRANT,
) => requestToken(at, fields, `${clientId}:${clientSecret}`);

const ask = (path = '', init: RequestInit = {}): Promise<Response> =>
  fetch(`${running.issuer}/idp/admin/api-key-clients${path}`, init);
const authorization = `Bearer ${TOKEN}`;

describe('A client behind an API key', () => {
  it('is its own, gets a token for the deployment, and is never the shared service app', async () => {
    const [first, second] = [await create(), await create()];
    expect(first).toMatchObject({ ...OWNER, createdAt: expect.any(Number) });
    expect(new Set([first.clientId, second.clientId, CLIENT_IDS.service]).size).toBe(3);
    expect(first.clientSecret).not.toBe(second.clientSecret);
    const { status, body } = await tokenOf(first);
    expect([status, body['scope'], body['expires_in']]).toEqual([200, 'all', 3_600]);
    const keys = createRemoteJWKSet(new URL(`${running.issuer}/idp/jwks`));
    const { payload } = await jwtVerify(String(body['access_token']), keys, {
      issuer: running.issuer,
      audience: PUBLIC_URL,
    });
    expect([payload['client_id'], payload.sub]).toEqual([first.clientId, first.clientId]);
  });

  it('gets scope all when it names none, as the service app does', async () => {
    const { body } = await tokenOf(await create(), running, { grant_type: 'client_credentials' });
    expect(body['scope']).toBe('all');
  });

  it('gets no token with the secret of another, the stored digest or none', async () => {
    const [client, other] = [await create(), await create()];
    const file = await readFile(join(running.stateDirectory, 'api-key-clients.json'), 'utf8');
    const { clients } = JSON.parse(file) as {
      readonly clients: { readonly clientId: string; readonly secretDigest: string }[];
    };
    const stored = clients.find(({ clientId }) => clientId === client.clientId)?.secretDigest ?? '';
    expect(stored).toHaveLength(43);
    for (const clientSecret of [other.clientSecret, stored, ''])
      expect((await tokenOf({ ...client, clientSecret })).status).not.toBe(200);
    expect((await tokenOf(client)).status).toBe(200);
  });

  it.each(['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'])(
    'refuses the grant %s',
    async (grant) => {
      const fields = { grant_type: grant, code: 'x', refresh_token: 'x', device_code: 'x' };
      expect((await tokenOf(await create(), running, fields)).status).toBe(400);
    },
  );

  it('has a secret that stands in no file and no log line', async () => {
    const client = await create();
    await tokenOf(client);
    const file = await readFile(join(running.stateDirectory, 'api-key-clients.json'), 'utf8');
    expect(file).toContain(client.clientId);
    expect(file + running.events.join('\n')).not.toContain(client.clientSecret);
    expect(running.events.join('\n')).not.toContain(TOKEN);
  });
});

describe('A revoked client', () => {
  it('gets no token from then on; every other client does', async () => {
    const [revoked, other] = [await create(), await create()];
    expect((await tokenOf(revoked)).status).toBe(200);
    expect(await issuer.revoke(revoked.clientId)).toBe(true);
    expect(await tokenOf(revoked)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    expect((await tokenOf(other)).status).toBe(200);
    expect(await issuer.revoke(revoked.clientId)).toBe(false);
    const listed = (await issuer.list()).map(({ clientId }) => clientId);
    expect(listed).toContain(other.clientId);
    expect(listed).not.toContain(revoked.clientId);
  });

  it('has tokens that stay valid until they end, an hour after they were issued at most', async () => {
    const at = await startIdp({ adminToken: TOKEN });
    try {
      const client = await create(at.idp.apiKeys);
      const { body } = await tokenOf(client, at);
      await at.idp.apiKeys.revoke(client.clientId);
      const token = String(body['access_token']);
      const keys = createRemoteJWKSet(new URL(`${at.issuer}/idp/jwks`));
      const { exp = 0, iat = 0 } = decodeJwt(token);
      expect(exp - iat).toBe(3_600);
      const verifyAt = (seconds: number) =>
        jwtVerify(token, keys, { currentDate: new Date(seconds * 1_000) });
      await expect(verifyAt(exp - 1)).resolves.toBeDefined();
      await expect(verifyAt(exp)).rejects.toThrow('exp');
    } finally {
      await at.close();
    }
  });

  it.each([CLIENT_IDS.service, CLIENT_IDS.web, 'api-key-00000000000000000000', '../x', ''])(
    'is one of these alone: %j is none, and stays',
    async (clientId) => {
      const { status } = await ask(`/${encodeURIComponent(clientId)}`, {
        method: 'DELETE',
        headers: { authorization },
      });
      expect(status).toBe(clientId === '' ? 405 : 404);
      const secret = await readFile(running.idp.serviceClientSecretFile, 'utf8');
      const service = `${encodeURIComponent(CLIENT_IDS.service)}:${secret}`;
      expect((await requestToken(running, GRANT, service)).status).toBe(200);
    },
  );
});

describe('Over a restart', () => {
  it('clients stay, revoked ones stay revoked, and the file is for its owner alone', async () => {
    const stateDirectory = join(place, 'state');
    const now = () => START;
    const first = await startIdp({ stateDirectory, now });
    const [kept, revoked] = [await create(first.idp.apiKeys), await create(first.idp.apiKeys)];
    await first.idp.apiKeys.revoke(revoked.clientId);
    await first.close();
    const second = await startIdp({ stateDirectory, now });
    try {
      const { clientSecret: _, ...listed } = kept;
      expect(await second.idp.apiKeys.list()).toEqual([listed]);
      expect((await tokenOf(kept, second)).status).toBe(200);
      expect((await tokenOf(revoked, second)).status).toBe(401);
      const { mode } = await stat(join(stateDirectory, 'api-key-clients.json'));
      expect(mode & 0o777).toBe(0o600);
    } finally {
      await second.close();
    }
  });

  it.each(['', '{}', '{"clients":[{"clientId":"service-app"}]}', '[]'])(
    'a file that holds %j is refused by name, and not replaced',
    async (text) => {
      const stateDirectory = await mkdtemp(join(place, 'broken-'));
      const file = join(stateDirectory, 'api-key-clients.json');
      await writeFile(file, text);
      await expect(startIdp({ stateDirectory })).rejects.toThrow('api-key-clients.json');
      expect(await readFile(file, 'utf8')).toBe(text);
    },
  );

  it('what is changed at the same time is all kept', async () => {
    const stateDirectory = join(place, 'together');
    const at = await startIdp({ stateDirectory });
    const made = await Promise.all(Array.from({ length: 20 }, () => create(at.idp.apiKeys)));
    await Promise.all(made.slice(0, 10).map(({ clientId }) => at.idp.apiKeys.revoke(clientId)));
    await at.close();
    const file = await readFile(join(stateDirectory, 'api-key-clients.json'), 'utf8');
    const { clients } = JSON.parse(file) as { readonly clients: { readonly clientId: string }[] };
    const ids = (list: readonly { readonly clientId: string }[]) =>
      list.map(({ clientId }) => clientId).toSorted();
    expect(ids(clients)).toEqual(ids(made.slice(10)));
  });
});

describe('The administration', () => {
  const body = JSON.stringify(OWNER);
  const json = { 'content-type': 'application/json' };

  it.each([
    ['no token', {}],
    ['another token', { authorization: `Bearer ${TOKEN}x` }],
    ['the token in another scheme', { authorization: TOKEN }],
    ["the service app's secret", { authorization: 'Basic c2VydmljZSthcHA6eA==' }],
  ])('answers 401 to %s, and changes nothing', async (_, headers) => {
    const { clientId } = await create();
    const before = await issuer.list();
    const answers = [
      await ask('', { headers }),
      await ask('', { method: 'POST', headers: { ...json, ...headers }, body }),
      await ask(`/${clientId}`, { method: 'DELETE', headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(await issuer.list()).toEqual(before);
  });

  it.each([{ origin: 'http://localhost:8080' }, { 'sec-fetch-site': 'same-origin' }])(
    'answers 403 to a browser (%j), which has the token even',
    async (header) => {
      const before = await issuer.list();
      const headers = { ...json, ...header, authorization };
      expect((await ask('', { method: 'POST', headers, body })).status).toBe(403);
      expect(await issuer.list()).toEqual(before);
    },
  );

  it.each([
    ['a form', { headers: { 'content-type': 'text/plain' }, body }, 415],
    ['no JSON', { headers: json, body: '{' }, 400],
    ['null', { headers: json, body: 'null' }, 400],
    ['no cluster', { headers: json, body: '{"organization":"a"}' }, 400],
    ['more than 4 KiB', { headers: json, body: `{"x":"${'x'.repeat(5_000)}"}` }, 400],
  ])('refuses %s', async (_, init, status) => {
    const headers = { ...init.headers, authorization };
    expect((await ask('', { ...init, method: 'POST', headers })).status).toBe(status);
  });

  it.each([
    [{ organization: 'None', cluster: 'c' }, 'organization_unusable'],
    [{ organization: 'a:b', cluster: 'c' }, 'organization_unusable'],
    [{ organization: '', cluster: 'c' }, 'organization_unusable'],
    [{ organization: 'o', cluster: 'a b' }, 'cluster_unusable'],
    [{ organization: 'o', cluster: 'c\n' }, 'cluster_unusable'],
  ])('refuses the owner %j: %s', async (owner, error) => {
    expect(await issuer.create(owner)).toEqual({ ok: false, error });
  });

  it.each(['PUT', 'PATCH', 'DELETE'])('knows no %s of the whole list', async (method) => {
    expect((await ask('', { method, headers: { authorization } })).status).toBe(405);
  });

  it('is not there without a token of its own', async () => {
    const without = await startIdp();
    try {
      const url = `${without.issuer}/idp/admin/api-key-clients`;
      expect((await fetch(url, { headers: { authorization: 'Bearer undefined' } })).status).toBe(
        404,
      );
    } finally {
      await without.close();
    }
    await expect(startIdp({ adminToken: 'short' })).rejects.toThrow('SP_CONFIG_INVALID');
  });

  it('is reached by a token that differs from every token it issues', async () => {
    const { body: issued } = await tokenOf(await create());
    const headers = { authorization: `Bearer ${String(issued['access_token'])}` };
    expect((await ask('', { headers })).status).toBe(401);
    expect((await post(running, '/idp/admin/api-key-clients', {})).status).toBe(401);
  });
});

describe('The command at the other end', () => {
  const answering = (status: number, body: unknown): ApiKeyIssuer =>
    createApiKeyAdminClient({
      url: 'http://127.0.0.1:1',
      token: TOKEN,
      fetch: async () => new Response(JSON.stringify(body), { status }),
    });

  it('reports an identity provider that does not answer', async () => {
    const at = createApiKeyAdminClient({ url: 'http://127.0.0.1:1', token: TOKEN, fetch });
    await expect(at.list()).rejects.toThrow('SP_IDP_UNREACHABLE');
  });

  it.each([
    [401, { error: 'invalid_token' }],
    [200, { clients: [{}] }],
    [200, {}],
    [200, null],
    [422, { error: 'other' }],
    [201, { ...OWNER, clientId: 'a', createdAt: 1 }],
  ])('takes no answer %i %j for one of the administration', async (status, body) => {
    await expect(answering(status, body).list()).rejects.toThrow('SP_IDP_PROTOCOL');
    await expect(answering(status, body).create(OWNER)).rejects.toThrow('SP_IDP_PROTOCOL');
  });
});
