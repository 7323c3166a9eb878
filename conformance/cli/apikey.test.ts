/**
 * `sallyport apikey`: keys of task pods, at the identity provider of a running plane.
 *
 * @module
 */

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exchange } from '../wire/exchange.ts';
import { type Plane, startPlane } from '../wire/platform.ts';
import { home, useHome } from './fixture.ts';

useHome();
let plane: Plane;
beforeAll(async () => {
  plane = await startPlane();
});
afterAll(() => plane.stop());

const OWNER = ['--organization', 'acme', '--cluster', 'east-1'];

/** Runs a subcommand on the plane's state folder. */
const apikey = (...args: readonly string[]) =>
  home.run(['apikey', ...args, '--state', plane.state]);

interface Created {
  readonly clientId: string;
  readonly key: string;
}

/** Issues a key. */
async function create(...args: readonly string[]): Promise<Created> {
  const { code, stdout } = await apikey('create', ...OWNER, ...args, '--json');
  expect(code).toBe(0);
  return JSON.parse(stdout) as Created;
}

/** The four fields of a key. */
const fieldsOf = (key: string): readonly string[] =>
  Buffer.from(key, 'base64').toString('utf8').split(':');

/** Asks the identity provider for a token with the credentials in a key. */
async function requestToken(key: string): Promise<{ status: number; token: string }> {
  const [, clientId = '', secret = ''] = fieldsOf(key);
  const response = await fetch(`${plane.issuer}/idp/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'all' }),
  });
  const body = (await response.json()) as { readonly access_token?: string };
  return { status: response.status, token: body.access_token ?? '' };
}

const enter = async (token: string): Promise<number> =>
  (await exchange(`${plane.url}/me`, { headers: { 'core-authorization': `Bearer ${token}` } }))
    .status;

async function listed(): Promise<readonly Created[]> {
  const { stdout } = await apikey('list', '--json');
  return (JSON.parse(stdout) as { readonly keys: readonly Created[] }).keys;
}

describe('apikey create', () => {
  it('prints the key alone; a task pod enters the platform with what is in it', async () => {
    const { code, stdout, stderr } = await apikey('create', ...OWNER);
    expect(code).toBe(0);
    const key = stdout.trimEnd();
    const [endpoint, clientId, secret = '', organization, ...more] = fieldsOf(key);
    expect([endpoint, organization, more]).toEqual(['localhost', 'acme', []]);
    expect(stderr).toContain(`client ${clientId}, shown once`);
    expect(stderr).not.toContain(secret);
    const { status, token } = await requestToken(key);
    expect([status, await enter(token)]).toEqual([200, 200]);
  });

  it('a key with one character of its secret changed gets no token', async () => {
    const { key } = await create();
    const [endpoint, clientId, secret = '', organization] = fieldsOf(key);
    const other = `${secret.startsWith('A') ? 'B' : 'A'}${secret.slice(1)}`;
    const wrong = [endpoint, clientId, other, organization].join(':');
    expect((await requestToken(Buffer.from(wrong).toString('base64'))).status).toBe(401);
    expect(await enter('')).toBe(401);
  });

  it('registers a client of its own for each key, never the shared service app', async () => {
    const ids = [await create(), await create()].map(({ clientId }) => clientId);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^api-key-[0-9a-f]{20}$/);
  });

  it('--endpoint names the host in the key, and the person hears of the port', async () => {
    const { stdout, stderr } = await apikey(
      'create',
      ...OWNER,
      '--endpoint',
      'platform.example.com',
    );
    expect(fieldsOf(stdout.trimEnd())[0]).toBe('platform.example.com');
    expect(stderr).toContain('https://platform.example.com, port 443');
  });

  it('--out writes a new file of mode 0600 and prints no secret', async () => {
    const out = join(home.path, 'key');
    const { code, stdout, stderr } = await apikey('create', ...OWNER, '--out', out);
    expect([code, stdout]).toEqual([0, '']);
    const key = readFileSync(out, 'utf8').trimEnd();
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect((await requestToken(key)).status).toBe(200);
    expect(stderr).not.toContain(key);
  });

  it('--out overwrites nothing, and then no client is registered', async () => {
    const out = join(home.path, 'taken');
    writeFileSync(out, 'mine');
    const before = await listed();
    const { code, stdout } = await apikey('create', ...OWNER, '--out', out, '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      expect.objectContaining({ ok: false, error: 'out_exists' }),
    ]);
    expect(readFileSync(out, 'utf8')).toBe('mine');
    expect(await listed()).toEqual(before);
  });

  it('--out that cannot be written leaves no client behind', async () => {
    const before = await listed();
    const out = join(home.path, 'missing', 'key');
    const { code, stderr } = await apikey('create', ...OWNER, '--out', out);
    expect([code, stderr]).toEqual([1, expect.stringContaining('its client was removed again')]);
    expect(await listed()).toEqual(before);
  });

  it('--manifest makes the Secret that the injection into task pods refers to', async () => {
    const out = join(home.path, 'secret.yaml');
    const args = ['--manifest', '--namespace', 'tasks', '--out', out];
    expect((await apikey('create', ...OWNER, ...args)).code).toBe(0);
    const manifest = parse(readFileSync(out, 'utf8')) as {
      readonly stringData: Readonly<Record<string, string>>;
    };
    expect(manifest).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'eager-api-key', namespace: 'tasks' },
      type: 'Opaque',
      stringData: { EAGER_API_KEY: expect.any(String) },
    });
    expect((await requestToken(manifest.stringData['EAGER_API_KEY'] ?? '')).status).toBe(200);
    expect(statSync(out).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['no organization', ['--cluster', 'c']],
    ['no cluster', ['--organization', 'o']],
    ['an organization with a colon', ['--organization', 'a:b', '--cluster', 'c']],
    ['the organization None', ['--organization', 'None', '--cluster', 'c']],
    ['an endpoint with a port', [...OWNER, '--endpoint', 'h:8443']],
    ['an endpoint with a scheme', [...OWNER, '--endpoint', 'dns:///h']],
    ['a name that is no Secret', [...OWNER, '--manifest', '--secret-name', 'EAGER_']],
    ['a namespace without a manifest', [...OWNER, '--namespace', 'tasks']],
    ['a namespace that is none', [...OWNER, '--manifest', '--namespace', 'Tasks']],
  ])('%s ends with 2, and no client is registered', async (_, args) => {
    const before = await listed();
    const { code, stdout } = await apikey('create', ...args, '--json');
    expect([code, JSON.parse(stdout)]).toEqual([2, expect.objectContaining({ ok: false })]);
    expect(await listed()).toEqual(before);
  });
});

describe('apikey list', () => {
  it('shows client, organization, cluster and time of each key, and nothing secret', async () => {
    const { clientId, key } = await create();
    const [, , secret = ''] = fieldsOf(key);
    const { code, stdout } = await apikey('list');
    expect(code).toBe(0);
    const row = stdout.split('\n').find((line) => line.startsWith(clientId));
    expect(row?.split('\t')).toEqual([
      clientId,
      'acme',
      'east-1',
      expect.stringMatching(/^\d{4}-.*Z$/),
    ]);
    for (const part of [key, secret, secret.slice(-4)]) expect(stdout).not.toContain(part);
  });
});

describe('apikey inspect', () => {
  it('shows what a key says, without its secret', async () => {
    const { clientId, key } = await create('--endpoint', 'platform.example.com');
    const file = join(home.path, 'key');
    writeFileSync(file, `${key}\n`);
    const { code, stdout, stderr } = await home.run(['apikey', 'inspect', '--file', file]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/endpoint +platform\.example\.com/);
    expect(stdout).toContain(clientId);
    expect(stdout).toMatch(/organization +acme/);
    const [, , secret = ''] = fieldsOf(key);
    expect(stdout).not.toContain(secret);
    const json = await home.run(['apikey', 'inspect', '--file', file, '--json']);
    expect(JSON.parse(json.stdout)).toEqual({
      ok: true,
      endpoint: 'platform.example.com',
      clientId,
      organization: 'acme',
    });
  });

  it.each([
    ['an endpoint with a port', 'h:8443:canary-id:canary-secret:'],
    ['three fields', 'h:canary-id:canary-secret'],
    ['a field that is no client ID', 'h::canary-secret:'],
  ])('a key with %s ends with 1, and none of it is shown', async (_, plain) => {
    const file = join(home.path, 'broken');
    writeFileSync(file, Buffer.from(plain).toString('base64'));
    const { code, stdout, stderr } = await home.run(['apikey', 'inspect', '--file', file]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('expected an API key');
    expect(stderr).not.toContain('canary');
  });
});

describe('apikey revoke', () => {
  it('ends one key at once: it gets no token, and every other key does', async () => {
    const [revoked, other] = [await create(), await create()];
    expect((await requestToken(revoked.key)).status).toBe(200);
    const { code, stdout } = await apikey('revoke', revoked.clientId);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${revoked.clientId} is revoked`)]);
    expect((await requestToken(revoked.key)).status).toBe(401);
    expect((await requestToken(other.key)).status).toBe(200);
    expect((await listed()).map(({ clientId }) => clientId)).not.toContain(revoked.clientId);
  });

  it('leaves tokens that were issued before, and says how long they last', async () => {
    const { clientId, key } = await create();
    const { token } = await requestToken(key);
    const { stdout } = await apikey('revoke', clientId, '--json');
    const { tokensEndWithinSeconds } = JSON.parse(stdout) as Record<string, number>;
    expect(await enter(token)).toBe(200);
    const [, payload = ''] = token.split('.');
    const { exp, iat } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
      readonly exp: number;
      readonly iat: number;
    };
    expect(exp - iat).toBe(tokensEndWithinSeconds);
  });

  it('of a client that is no key, or of a whole key, ends with 1 and repeats nothing', async () => {
    const { key } = await create();
    for (const id of ['sallyport-service', key]) {
      const { code, stdout, stderr } = await apikey('revoke', id);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).not.toContain(id);
    }
    expect((await requestToken(key)).status).toBe(200);
  });
});

describe('The way to the administration', () => {
  it('is a file of mode 0600 that ends with the plane; without it the commands end with 1', async () => {
    const own = await startPlane();
    const file = join(own.state, 'api-key-admin.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await own.running.stop()).toBe(0);
    expect(existsSync(file)).toBe(false);
    const { code, stderr } = await home.run(['apikey', 'list', '--state', own.state]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('no "sallyport up" runs')]);
    await own.stop();
  });

  it('ends with 5 where the plane is gone and its file is not', async () => {
    const admin = { issuer: 'http://127.0.0.1:1', publicUrl: 'http://localhost:8080', token: 'x' };
    const file = join(home.path, 'api-key-admin.json');
    writeFileSync(file, JSON.stringify(admin), { mode: 0o600 });
    const { code } = await home.run(['apikey', 'list', '--state', home.path]);
    expect(code).toBe(5);
  });

  it.each([
    ['that others can read', 'http://127.0.0.1:1', 0o644],
    ['that leads to another machine', 'http://idp.example.com', 0o600],
  ])('is not taken from a file %s', async (_, issuer, mode) => {
    const admin = { issuer, publicUrl: 'http://localhost:8080', token: 'x' };
    writeFileSync(join(home.path, 'api-key-admin.json'), JSON.stringify(admin), { mode });
    const { code, stderr } = await home.run(['apikey', 'list', '--state', home.path]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('api-key-admin.json')]);
  });

  it('shows neither a secret nor the capability in the log', async () => {
    const { clientId, key } = await create();
    await requestToken(key);
    const [, , secret = ''] = fieldsOf(key);
    const { token } = JSON.parse(readFileSync(join(plane.state, 'api-key-admin.json'), 'utf8')) as {
      readonly token: string;
    };
    const log = readFileSync(join(plane.state, 'sallyport.log'), 'utf8');
    expect(log).toContain(clientId);
    for (const hidden of [secret, key, token]) expect(log).not.toContain(hidden);
  });
});
