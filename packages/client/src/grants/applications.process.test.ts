/** The grants that need no person. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SecretText } from '@sallyport/config';
import { createJwt, createTestPorts, START, type TestPorts } from '@sallyport/testing/client/ports';
import { type ScriptedServer, startScriptedServer } from '@sallyport/testing/idp/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Grant } from '../grant.ts';
import { createClientCredentialsGrant } from './client-credentials.ts';
import { createExternalCommandGrant } from './external-command.ts';
import { createServiceAccountTokenGrant } from './service-account-token.ts';

const TOKENS = { body: { access_token: 'at', token_type: 'Bearer', expires_in: 300 } };
const NO_CLIENT = { status: 401, body: { error: 'invalid_client' } };
const CANARY = 'c4n4ry';

let server: ScriptedServer;
let ports: TestPorts;
let folder: string;
beforeEach(async () => {
  server = await startScriptedServer();
  ports = createTestPorts();
  folder = mkdtempSync(join(tmpdir(), 'grants-'));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function createWithSecret(path: string, changes = {}): Grant {
  return createClientCredentialsGrant(
    {
      tokenEndpoint: `${server.origin}/token`,
      clientId: 'cid+x',
      clientSecret: { from: 'file', path, key: 'admin.clientSecretLocation' },
      scopes: ['all'],
      audience: '',
      ...changes,
    },
    ports,
  );
}

describe('client credentials', () => {
  it('go by HTTP Basic with both halves form-encoded, with the scope and no audience', async () => {
    server.script('/token', TOKENS);
    const outcome = await createWithSecret(write('secret', 's e:c/+')).obtain();
    expect(outcome).toMatchObject({
      ok: true,
      value: { accessToken: 'at', expiresAt: START + 300_000, scopes: ['all'] },
    });
    const [request] = server.requests;
    const pair = Buffer.from('cid%2Bx:s+e%3Ac%2F%2B').toString('base64');
    expect(request?.headers.authorization).toBe(`Basic ${pair}`);
    expect(request?.form).toEqual({ grant_type: 'client_credentials', scope: 'all' });
    expect(server.requests).toHaveLength(1);
  });

  it('ask for the configured audience', async () => {
    server.script('/token', TOKENS);
    await createWithSecret(write('secret', 's'), { audience: 'api' }).obtain();
    expect(server.requests[0]?.form['audience']).toBe('api');
  });

  it('go once more in the body after invalid_client', async () => {
    server.script('/token', { ...NO_CLIENT, headers: { 'www-authenticate': 'Basic' } }, TOKENS);
    const outcome = await createWithSecret(write('secret', 's')).obtain();
    expect(outcome.ok).toBe(true);
    expect(server.requests[1]?.headers.authorization).toBeUndefined();
    expect(server.requests[1]?.form).toMatchObject({ client_id: 'cid+x', client_secret: 's' });
  });

  it('are refused after the second invalid_client, with what to compare', async () => {
    server.script('/token', NO_CLIENT);
    const outcome = await createWithSecret(write('secret', CANARY)).obtain();
    expect(outcome).toMatchObject({
      ok: false,
      error: { error: 'invalid_client', hint: expect.stringContaining('client secret') },
    });
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(outcome)).not.toContain(CANARY);
  });

  it.each(['invalid_scope', 'unauthorized_client', 'access_denied'])(
    'are not sent again after %s',
    async (error) => {
      server.script('/token', { status: 400, body: { error } });
      expect(await createWithSecret(write('secret', 's')).obtain()).toMatchObject({
        error: { error, hint: expect.stringMatching(/\./) },
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each([
    [
      '401, as Keycloak answers a wrong secret, the secret is to be compared',
      401,
      'Compare client ID and client secret',
    ],
    ['400 the grant type is to be allowed', 400, 'Allow the grant type'],
  ])('after unauthorized_client with %s', async (_, status, hint) => {
    server.script('/token', { status, body: { error: 'unauthorized_client' } });
    expect(await createWithSecret(write('secret', 's')).obtain()).toMatchObject({
      error: { error: 'unauthorized_client', hint: expect.stringContaining(hint) },
    });
    expect(server.requests).toHaveLength(1);
  });

  it('read the secret file each time, so that a rotated secret is used', async () => {
    server.script('/token', TOKENS);
    const path = write('secret', 'one');
    const grant = createWithSecret(path);
    await grant.obtain();
    writeFileSync(path, 'two');
    await grant.obtain();
    const sent = server.requests.map(({ headers }) =>
      Buffer.from(String(headers.authorization).slice(6), 'base64').toString(),
    );
    expect(sent).toEqual(['cid%2Bx:one', 'cid%2Bx:two']);
  });

  it.each([
    ['invalid_client', 400],
    ['invalid_client', 401],
    ['unauthorized_client', 400],
    ['unauthorized_client', 401],
  ])(
    'refused with %s and %i name the newline and the file once, and not the secret',
    async (error, status) => {
      server.script('/token', { status, body: { error } });
      const path = write('secret', `${CANARY}\n`);
      const outcome = await createWithSecret(path).obtain();
      if (outcome.ok) throw new Error('refused');
      const { description } = outcome.error;
      expect(
        description.split(
          `${path}: admin.clientSecretLocation (client_secret): found a newline at the end`,
        ),
      ).toHaveLength(2);
      expect(description).not.toContain(CANARY);
    },
  );

  it('leave out a newline at the end of the file, and warn of it', async () => {
    server.script('/token', TOKENS);
    await createWithSecret(write('secret', `${CANARY}\n`)).obtain();
    const pair = Buffer.from(String(server.requests[0]?.headers.authorization).slice(6), 'base64');
    expect(pair.toString()).toBe(`cid%2Bx:${CANARY}`);
    expect(ports.warnings).toMatchObject([
      {
        key: 'admin.clientSecretLocation (client_secret)',
        found: expect.stringContaining('newline'),
      },
    ]);
    expect(JSON.stringify(ports.warnings)).not.toContain(CANARY);
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
  ])(
    'with a %s secret file are refused with its path and key, and nothing is sent',
    async (_, text) => {
      const path = text === undefined ? join(folder, 'none') : write('secret', text);
      const outcome = await createWithSecret(path).obtain();
      expect(outcome).toMatchObject({ ok: false, error: { error: 'client_secret_unavailable' } });
      expect(outcome.ok ? '' : outcome.error.description).toContain(`${path}: `);
      expect(outcome.ok ? '' : outcome.error.description).toContain('client_secret');
      expect(server.requests).toHaveLength(0);
    },
  );

  it('of an API key come from the key', async () => {
    server.script('/token', TOKENS);
    const clientSecret = { from: 'text', secret: new SecretText('s') } as const;
    expect((await createWithSecret('', { clientSecret }).obtain()).ok).toBe(true);
  });

  it.each([
    ['503', { status: 503, headers: { 'retry-after': '9' } }, 9],
    ['503 for a day', { status: 503, headers: { 'retry-after': '86400' } }, 300],
    ['429', { status: 429, body: { error: 'slow' } }, 5],
  ])('answered %s could not be judged: that is an outage', async (_, answer, retryAfterSeconds) => {
    server.script('/token', answer);
    await expect(createWithSecret(write('secret', CANARY)).obtain()).rejects.toMatchObject({
      code: 'SP_IDP_UNREACHABLE',
      retryAfterSeconds,
    });
  });

  it.each([
    ['a page', { status: 200, body: '<html>' }],
    ['a page with 400', { status: 400, body: '<html>' }],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }],
    ['200 with an error', { status: 200, body: { error: 'invalid_client' } }],
    ['201', { status: 201, body: TOKENS.body }],
  ])('answered by %s report that this is no OAuth server', async (_, answer) => {
    server.script('/token', answer);
    await expect(createWithSecret(write('secret', CANARY)).obtain()).rejects.toMatchObject({
      code: 'SP_IDP_PROTOCOL',
      message: expect.not.stringContaining(CANARY),
    });
    expect(server.requests).toHaveLength(1);
  });

  it('without an answer are an outage', async () => {
    const grant = createWithSecret(write('secret', 's'));
    await server.close();
    await expect(grant.obtain()).rejects.toMatchObject({ code: 'SP_IDP_UNREACHABLE' });
  });

  it('that were called off are refused, and nothing is sent', async () => {
    const outcome = await createWithSecret(write('secret', 's')).obtain({
      signal: AbortSignal.abort(),
    });
    expect(outcome).toMatchObject({ ok: false, error: { error: 'login_cancelled' } });
    expect(server.requests).toHaveLength(0);
  });

  it('show words of the server as one printable line', async () => {
    const body = { error: 'invalid_scope', error_description: `a\n\u001b[2J${'x'.repeat(900)}` };
    server.script('/token', { status: 400, body });
    const outcome = await createWithSecret(write('secret', 's')).obtain();
    const text = outcome.ok ? '' : outcome.error.description;
    expect(text).toMatch(/^The identity provider answered invalid_scope: a \[2Jx+…$/);
    expect(text.length).toBeLessThan(400);
  });
});

describe('an external command', () => {
  const run = (script: string, options = {}) =>
    createExternalCommandGrant({
      command: [process.execPath, '-e', script],
      now: ports.now,
      ...options,
    });

  it('prints the token; white space around it is dropped', async () => {
    const token = createJwt({ exp: 1_900_000_000 });
    const outcome = await run(`console.log(' ${token}\\n')`).obtain();
    expect(outcome).toEqual({
      ok: true,
      value: {
        accessToken: token,
        expiresAt: 1_900_000_000_000,
        obtainedAt: START,
        refreshToken: undefined,
        scopes: [],
      },
    });
  });

  it('that prints an opaque token gives no expiry', async () => {
    const outcome = await run(`console.log('opaque')`).obtain();
    expect(outcome).toMatchObject({ value: { accessToken: 'opaque', expiresAt: undefined } });
  });

  it('is no shell: what a shell would expand arrives as it is', async () => {
    const command = [process.execPath, '-p', 'process.argv[1]', '$HOME;`id`'];
    const outcome = await createExternalCommandGrant({ command, now: ports.now }).obtain();
    expect(outcome).toMatchObject({ value: { accessToken: '$HOME;`id`' } });
  });

  it.each([
    ['fails', `console.log('${CANARY}'); process.exitCode = 3`, 'failed with exit code 3'],
    ['prints nothing', '', 'printed nothing'],
    ['prints two words', `console.log('${CANARY} x')`, 'printed something that is no token'],
    ['prints too much', `process.stdout.write('x'.repeat(200000))`, 'printed too much'],
  ])('that %s is refused without what it printed', async (_, script, what) => {
    const outcome = await run(script).obtain();
    expect(outcome).toMatchObject({ error: { error: 'command_failed' } });
    expect(outcome.ok ? '' : outcome.error.description).toContain(what);
    expect(JSON.stringify(outcome)).not.toContain(CANARY);
  });

  it('that does not end is ended', async () => {
    const outcome = await run('setInterval(() => {}, 1000)', { timeoutMs: 100 }).obtain();
    expect(outcome.ok ? '' : outcome.error.description).toContain('did not end in time');
  });

  it('that does not exist is reported', async () => {
    const command = [join(folder, 'none')];
    const outcome = await createExternalCommandGrant({ command, now: ports.now }).obtain();
    expect(outcome.ok ? '' : outcome.error.description).toContain('does not exist');
  });

  it('that is called off ends', async () => {
    const stop = new AbortController();
    const outcome = run('setInterval(() => {}, 1000)').obtain({ signal: stop.signal });
    stop.abort();
    expect(await outcome).toMatchObject({ error: { error: 'login_cancelled' } });
  });
});

describe('a service-account token', () => {
  it('is the bearer itself, read again at each use', async () => {
    const path = write('token', createJwt({ exp: 1_900_000_000 }));
    const grant = createServiceAccountTokenGrant({ path, use: 'Bearer' }, ports);
    expect(await grant.obtain()).toMatchObject({ value: { expiresAt: 1_900_000_000_000 } });
    writeFileSync(path, 'renewed');
    expect(await grant.obtain()).toMatchObject({ value: { accessToken: 'renewed' } });
    expect(server.requests).toHaveLength(0);
  });

  it('is exchanged as a client assertion (RFC 7523)', async () => {
    server.script('/token', TOKENS);
    const grant = createServiceAccountTokenGrant(
      {
        path: write('token', 'jwt\n'),
        use: 'ClientAssertion',
        tokenEndpoint: `${server.origin}/token`,
        clientId: 'service',
        scopes: ['all'],
        audience: '',
      },
      ports,
    );
    expect(await grant.obtain()).toMatchObject({ value: { accessToken: 'at' } });
    expect(server.requests[0]?.form).toEqual({
      grant_type: 'client_credentials',
      client_id: 'service',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'jwt',
      scope: 'all',
    });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    ['no file', () => join(folder, 'none'), 'no such file'],
    ['a folder', () => folder, 'no regular file'],
    ['something else', () => write('token', `${CANARY} x`), 'something else'],
    ['too much', () => write('token', 'x'.repeat(70_000)), 'too large'],
  ])('that is %s is refused without showing it', async (_, path, what) => {
    const grant = createServiceAccountTokenGrant({ path: path(), use: 'Bearer' }, ports);
    const outcome = await grant.obtain();
    expect(outcome).toMatchObject({ error: { error: 'service_account_token_unavailable' } });
    expect(outcome.ok ? '' : outcome.error.description).toContain(what);
    expect(JSON.stringify(outcome)).not.toContain(CANARY);
  });
});
