import { type ScriptedAnswer, startScriptedServer } from '@sallyport/testing/idp/scripted-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeycloakAdmin, type KeycloakAdmin, pathOf } from './admin-api.ts';
import { describeLack, roleFor } from './admin-roles.ts';

const TOKEN_PATH = '/realms/master/protocol/openid-connect/token';
const TOKEN = { body: { access_token: 'canary-token', expires_in: 60 } };

/** An admin interface that answers a path of it so. */
async function answering(path: string, ...answers: readonly ScriptedAnswer[]) {
  const server = await startScriptedServer();
  onTestFinished(() => server.close());
  server.script(TOKEN_PATH, TOKEN);
  server.script(path, ...answers);
  const clock = { ms: 0 };
  const pauses: number[] = [];
  const admin: KeycloakAdmin = createKeycloakAdmin({
    url: server.origin,
    adminRealm: 'master',
    credentials: { kind: 'user', username: 'admin', password: 'canary-password' },
    fetch,
    now: () => clock.ms,
    async pause(ms) {
      pauses.push(ms);
    },
  });
  const tokens = () => server.requests.filter(({ path: asked }) => asked === TOKEN_PATH).length;
  return { server, admin, clock, pauses, tokens };
}

const messageOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => '',
    (error: unknown) => String(error),
  );

describe('The admin interface of a Keycloak', () => {
  it('answers with the JSON of an object, and with nothing where there is none', async () => {
    const { admin } = await answering('/admin/realms/a', { body: { realm: 'a' } }, { status: 404 });
    expect(await admin.get('/a')).toEqual({ realm: 'a' });
    expect(await admin.get('/a')).toBeUndefined();
  });

  it('is asked again when it fails to answer, and a change is that is the same when made twice', async () => {
    const failed = { status: 500, body: { error: 'unknown_error' } };
    const first = await answering('/admin/realms/a', failed, { status: 503 }, { body: {} });
    expect(await first.admin.get('/a')).toEqual({});
    expect(first.pauses).toEqual([500, 2_000]);
    const put = await answering('/admin/realms/a', failed, { status: 204 });
    await put.admin.put('/a', {});
    const removal = await answering('/admin/realms/a', failed, { status: 404 });
    await removal.admin.remove('/a');
    expect([put.pauses, removal.pauses]).toEqual([[500], [500]]);
  });

  it('is asked three times at most, not again after a refusal, and creates nothing twice', async () => {
    const failed = { status: 500, body: { error: 'unknown_error' } };
    const down = await answering('/admin/realms/a', failed);
    expect(await messageOf(down.admin.get('/a'))).toContain('answered 500: unknown_error');
    expect(down.server.requests.filter(({ path }) => path === '/admin/realms/a')).toHaveLength(3);
    const refused = await answering('/admin/realms/a', { status: 409 }, { body: {} });
    expect(await messageOf(refused.admin.put('/a', {}))).toContain('answered 409');
    const made = await answering('/admin/realms/a', failed, { status: 201 });
    expect(await messageOf(made.admin.post('/a', {}))).toContain('answered 500: unknown_error');
    expect([refused.pauses, made.pauses]).toEqual([[], []]);
  });

  it('behind a proxy that gives up may have done what was asked: that is no refusal', async () => {
    for (const [status, code] of [
      [504, 'SP_IDP_UNREACHABLE'],
      [500, 'SP_IDP_PROTOCOL'],
    ] as const) {
      const { admin } = await answering('/admin/realms/a', { status });
      expect(await messageOf(admin.post('/a', {}))).toContain(code);
    }
  });

  it('an answer that is cut off is refused, and no part of it is shown: it may hold a secret', async () => {
    const { admin } = await answering('/admin/realms/a', { body: '{"value":"canary-secret' });
    const message = await messageOf(admin.get('/a'));
    expect(message).toContain('SP_IDP_PROTOCOL');
    expect(message).toContain('GET /admin/realms/a answered with something that is no JSON');
    expect(message).not.toContain('canary');
  });

  it.each([301, 302, 307, 308])(
    'a redirect (%i) is not followed: the token goes nowhere else',
    async (status) => {
      const { admin, server } = await answering('/admin/realms/a', {
        status,
        headers: { location: '/elsewhere' },
      });
      server.script('/elsewhere', { body: {} });
      expect(await messageOf(admin.get('/a'))).toContain(`answered ${status}`);
      expect(server.requests.map(({ path }) => path)).not.toContain('/elsewhere');
    },
  );

  it('a redirect of the token request is not followed: the password goes nowhere else', async () => {
    const { admin, server } = await answering('/admin/realms/a', { body: {} });
    server.script(TOKEN_PATH, { status: 307, headers: { location: '/elsewhere' } });
    server.script('/elsewhere', TOKEN);
    expect(await messageOf(admin.get('/a'))).toContain('answered 307 to the administrator');
    expect(server.requests.map(({ path }) => path)).toEqual([TOKEN_PATH]);
  });

  it.each([
    [400, "; compare the administrator's name, password or secret, and realm"],
    [401, "; compare the administrator's name, password or secret, and realm"],
    [404, "; compare the administrator's realm, and the address"],
    [503, ' to the administrator: refused'],
  ])('a token refused with %i ends with what to compare', async (status, end) => {
    const { admin, server } = await answering('/admin/realms/a', { body: {} });
    server.script(TOKEN_PATH, { status, body: { error: 'refused' } });
    const message = await messageOf(admin.get('/a'));
    expect(message.slice(-end.length)).toBe(end);
    expect(message).not.toContain('canary');
  });

  it('a refusal names the role that lacks, and where to give it', async () => {
    const { admin } = await answering('/admin/realms/a/clients', { status: 403 });
    expect(await messageOf(admin.post('/a/clients', {}))).toBe(
      'SallyportError: SP_CONFIG_INVALID (keycloak): the administrator lacks the role manage-clients of the client a-realm in the realm master; POST /admin/realms/a/clients is refused',
    );
  });

  it('what was made meanwhile by something else says so, and that the command can run again', async () => {
    const { admin } = await answering('/admin/realms/a/clients', {
      status: 409,
      body: { errorMessage: 'Client x already exists' },
    });
    const message = await messageOf(admin.post('/a/clients', {}));
    expect(message).toContain('409: Client x already exists; something made it meanwhile');
  });

  it('a token is used for half of its life, and for half a minute at most', async () => {
    const { admin, clock, tokens, server } = await answering('/admin/realms/a', { body: {} });
    server.script(TOKEN_PATH, { body: { access_token: 'x', expires_in: 10 } }, TOKEN);
    await admin.get('/a');
    clock.ms = 4_999;
    await admin.get('/a');
    expect(tokens()).toBe(1);
    clock.ms = 5_000;
    await admin.get('/a');
    expect(tokens()).toBe(2);
    clock.ms += 29_999;
    await admin.get('/a');
    expect(tokens()).toBe(2);
    clock.ms += 1;
    await admin.get('/a');
    expect(tokens()).toBe(3);
  });

  it('a new token is asked for once a realm was made: its roles stand in no token of before', async () => {
    const { admin, tokens, server } = await answering('/admin/realms', { status: 201 });
    server.script('/admin/realms/a', { body: {} });
    await admin.post('', { realm: 'a' });
    await admin.get('/a');
    expect(tokens()).toBe(2);
    await admin.get('/a');
    expect(tokens()).toBe(2);
  });
});

describe('A path of the admin interface', () => {
  it('has each name as one segment, whatever stands in it', () => {
    expect(pathOf('a/b', '..c', 'd?e#f', '%2e%2e', ' ')).toBe(
      '/a%2Fb/..c/d%3Fe%23f/%252e%252e/%20',
    );
  });

  it.each(['', '.', '..'])('is not made of %j, which would lead to another object', (name) => {
    expect(() => pathOf('realm', 'clients', name)).toThrow('SP_IDP_PROTOCOL');
  });
});

describe('The role for a request', () => {
  it.each([
    ['POST', '', 'create-realm'],
    ['GET', '/a', 'view-realm'],
    ['PUT', '/a', 'manage-realm'],
    ['GET', '/a/clients?first=0&max=1', 'view-clients'],
    ['GET', '/a/client-scopes', 'view-clients'],
    ['POST', '/a/client-scopes', 'manage-clients'],
    ['PUT', '/a/clients/1/optional-client-scopes/2', 'manage-clients'],
    ['DELETE', '/a/clients/1', 'manage-clients'],
  ])('%s %s is %s', (method, path, role) => {
    expect(roleFor(method, path)).toBe(role);
  });

  it('is given in the realm itself to its own administrators, in master to those of all', () => {
    expect(describeLack('manage-realm', '/a', 'a')).toBe(
      'the administrator lacks the role manage-realm of the client realm-management in the realm a',
    );
    expect(describeLack('manage-realm', '/a%20b', 'master')).toBe(
      'the administrator lacks the role manage-realm of the client a b-realm in the realm master',
    );
    expect(describeLack('create-realm', '', 'master')).toBe(
      'the administrator lacks the role create-realm in the realm master',
    );
  });
});
