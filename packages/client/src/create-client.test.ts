import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestPorts,
  metadataOf,
  START,
  type TestPorts,
} from '@sallyport/testing/client/ports';
import { type ScriptedServer, startScriptedServer } from '@sallyport/testing/idp/scripted-server';
import { Timers } from '@sallyport/testing/time/timers';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ClientPorts, createClient } from './create-client.ts';
import type { PlatformMetadata } from './platform-metadata.ts';
import type { ClientSettings } from './settings/client-settings.ts';
import { loadClientSettings } from './settings/load-client-settings.ts';
import type { TokenSet } from './token-set.ts';
import type { TokenStore } from './token-store.ts';

const SERVICE = '/flyteidl2.auth.AuthMetadataService';
const tokens = (accessToken: string) => ({
  body: { access_token: accessToken, token_type: 'Bearer', expires_in: 3_600 },
});

let platform: ScriptedServer;
let idp: ScriptedServer;
let ports: TestPorts;
let folder: string;
beforeEach(async () => {
  [platform, idp] = await Promise.all([startScriptedServer(), startScriptedServer()]);
  ports = createTestPorts({ isTimeEndless: true });
  folder = mkdtempSync(join(tmpdir(), 'client-'));
  writeFileSync(join(folder, 'client_secret'), 's3cret');
  idp.script('/token', tokens('at-1'), tokens('at-2'));
  platform.script('/api', { body: { ok: true } });
});
afterEach(async () => {
  await Promise.all([platform.close(), idp.close()]);
  rmSync(folder, { recursive: true });
});

/** What the identity provider was sent, its metadata document aside. */
const posted = () => idp.requests.filter(({ method }) => method === 'POST');

/** Opens a store that holds these tokens, whatever is written to it. */
const storeHolding = (kept: TokenSet) => (): Promise<TokenStore> =>
  Promise.resolve({
    kind: 'memory',
    read: () => Promise.resolve(kept),
    write: () => Promise.resolve(),
    remove: () => Promise.resolve(),
  });

function advertise(changes: Record<string, unknown> = {}): void {
  const { redirectUri = 'http://localhost:53593/callback', ...publicClient } = changes;
  platform.script(`${SERVICE}/GetOAuth2Metadata`, {
    body: {
      issuer: idp.origin,
      authorizationEndpoint: `${idp.origin}/authorize`,
      tokenEndpoint: `${idp.origin}/token`,
    },
  });
  idp.script('/.well-known/openid-configuration', {
    body: {
      issuer: idp.origin,
      authorization_endpoint: `${idp.origin}/authorize`,
      token_endpoint: `${idp.origin}/token`,
      revocation_endpoint: `${idp.origin}/revoke`,
    },
  });
  platform.script(`${SERVICE}/GetPublicClientConfig`, {
    body: {
      clientId: 'native',
      redirectUri,
      scopes: ['all'],
      authorizationMetadataKey: 'core-authorization',
      ...publicClient,
    },
  });
}

function settingsOf(
  admin: Record<string, unknown>,
  flags: Record<string, unknown> = {},
): ClientSettings {
  const loaded = loadClientSettings({
    env: {},
    flags: Object.fromEntries([
      ['admin.endpoint', platform.origin],
      ...Object.entries(flags),
      ...Object.entries(admin).map(([name, value]) => [`admin.${name}`, value]),
    ]),
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value.settings;
}

const application = (changes: Record<string, unknown> = {}) =>
  settingsOf({
    clientId: 'service',
    clientSecretLocation: join(folder, 'client_secret'),
    ...changes,
  });

const create = (settings: ClientSettings, changes: Partial<ClientPorts> = {}) =>
  createClient(settings, { ...ports, ...changes });

describe('a client', () => {
  it('sends no request before it is used', () => {
    create(application());
    expect(platform.requests).toEqual([]);
    expect(posted()).toEqual([]);
  });

  it('reaches an identity provider by plain http beyond the loopback where the setting allows its origin, and nowhere else', async () => {
    const inside = 'http://idp.identity.svc.cluster.local:8080';
    const endpoints = { issuer: inside, token_endpoint: `${inside}/token` };
    advertise();
    platform.script(`${SERVICE}/GetOAuth2Metadata`, { body: endpoints });
    idp.script('/.well-known/openid-configuration', { body: endpoints });
    const asked: string[] = [];
    const resolve: typeof fetch = (input, init) => {
      const url = String(input instanceof Request ? input.url : input);
      if (url.startsWith(inside)) asked.push(url);
      return ports.fetch(url.replace(inside, idp.origin), init);
    };
    const obtain = (allowed: readonly string[] | undefined) =>
      create(
        settingsOf(
          { clientId: 'service', clientSecretLocation: join(folder, 'client_secret') },
          { dangerouslyAllowPlainHttpTo: allowed },
        ),
        { fetch: resolve },
      ).tokenSource.get();
    await expect(obtain(undefined)).rejects.toMatchObject({ code: 'SP_PLATFORM_PROTOCOL' });
    await expect(obtain([inside.replace('8080', '8081')])).rejects.toMatchObject({
      code: 'SP_PLATFORM_PROTOCOL',
    });
    expect(asked).toEqual([]);
    expect(await obtain([inside])).toMatchObject({ ok: true, value: { accessToken: 'at-1' } });
    expect(asked).toEqual([`${inside}/.well-known/openid-configuration`, `${inside}/token`]);
  });

  it('of an application obtains a token at the advertised endpoint and sends it in the advertised header', async () => {
    advertise({ audience: 'human' });
    const client = create(application());
    expect((await client.fetch(`${platform.origin}/api`)).status).toBe(200);
    expect(platform.requests.at(-1)?.headers['core-authorization']).toBe('Bearer at-1');
    expect(posted().map(({ form }) => form)).toEqual([
      { grant_type: 'client_credentials', scope: 'all' },
    ]);
    await client.fetch(`${platform.origin}/api`);
    expect(posted()).toHaveLength(1);
  });

  it.each([
    [{ scopes: ['machine'] }, { scope: 'machine' }],
    [{ audience: 'own' }, { audience: 'own' }],
    [{ useAudienceFromAdmin: true }, { audience: 'human' }],
    [{ useAudienceFromAdmin: true, audience: 'own' }, { audience: 'own' }],
  ])('of an application with %j asks for %j, whatever people ask for', async (changes, form) => {
    advertise({ audience: 'human' });
    await create(application(changes)).tokenSource.get();
    expect(posted()[0]?.form).toMatchObject(form);
  });

  it('with a header of its own uses it, whatever the platform publishes', async () => {
    advertise();
    const client = create(application({ authorizationHeader: 'x-own' }));
    await client.fetch(`${platform.origin}/api`);
    expect(platform.requests.at(-1)?.headers['x-own']).toBe('Bearer at-1');
    expect(platform.requests.at(-1)?.headers['core-authorization']).toBeUndefined();
    expect(await client.authorizationHeader()).toBe('x-own');
  });

  it('of a service with everything configured asks the platform nothing', async () => {
    const client = create(
      application({
        scopes: ['all'],
        tokenUrl: `${idp.origin}/token`,
        authorizationHeader: 'core-authorization',
      }),
    );
    expect(await client.tokenSource.get()).toMatchObject({ value: { accessToken: 'at-1' } });
    expect(await client.tokenKey()).toEqual({
      issuer: `${idp.origin}/token`,
      tokenEndpoint: `${idp.origin}/token`,
      endpoint: platform.origin,
      clientId: 'service',
      scopes: ['all'],
      audience: '',
    });
    expect(platform.requests).toEqual([]);
  });

  it('refreshes within the window of its settings', async () => {
    advertise();
    const client = create(application({ tokenRefreshWindow: '5m' }));
    await client.tokenSource.get();
    ports.advance(3_600_000 - 301_000);
    expect(await client.tokenSource.get()).toMatchObject({ value: { accessToken: 'at-1' } });
    ports.advance(2_000);
    expect(await client.tokenSource.get()).toMatchObject({ value: { accessToken: 'at-2' } });
  });

  it('replaces a refused token once', async () => {
    advertise();
    platform.script('/api', { status: 401 }, { body: {} });
    expect((await create(application()).fetch(`${platform.origin}/api`)).status).toBe(200);
    expect(platform.requests.at(-1)?.headers['core-authorization']).toBe('Bearer at-2');
  });

  it('that is switched off attaches nothing and says so', async () => {
    const client = create({ ...application(), isEnabled: false });
    await client.fetch(`${platform.origin}/api`);
    expect(platform.requests.map(({ headers }) => headers['core-authorization'])).toEqual([
      undefined,
    ]);
    expect(await client.tokenSource.get()).toMatchObject({ error: { error: 'auth_disabled' } });
    expect(posted()).toEqual([]);
  });

  it('without an endpoint sends nothing anywhere', async () => {
    const client = create({
      ...application({ tokenUrl: `${idp.origin}/token`, scopes: ['all'] }),
      endpoint: undefined,
    });
    await expect(client.fetch(`${platform.origin}/api`)).rejects.toMatchObject({
      code: 'SP_CONFIG_INVALID',
    });
    await expect(client.metadata()).rejects.toMatchObject({ code: 'SP_CONFIG_INVALID' });
    expect(platform.requests).toEqual([]);
  });

  it('tries again after the platform was down', async () => {
    platform.script(`${SERVICE}/GetOAuth2Metadata`, { status: 503 });
    platform.script(`${SERVICE}/GetPublicClientConfig`, { status: 503 });
    const client = create(application());
    await expect(client.tokenSource.get()).rejects.toMatchObject({
      code: 'SP_PLATFORM_UNREACHABLE',
    });
    advertise();
    expect(await client.tokenSource.get()).toMatchObject({ ok: true });
  });
});

describe('a client of an internal service', () => {
  const serviceSettings = (flags: Record<string, unknown> = {}): ClientSettings => {
    const loaded = loadClientSettings({
      env: {},
      flags: {
        'admin.endpoint': platform.origin,
        'union.auth.clientId': 'service',
        'union.auth.clientSecretLocation': join(folder, 'client_secret'),
        ...flags,
      },
      block: 'union.auth',
    });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
    return loaded.value.settings;
  };
  const ahead = (timers: Timers): Partial<ClientPorts> => ({
    schedule: timers.schedule,
    random: () => 0,
    startSpreadMs: 0,
  });

  it('has its token renewed in the background, without a call', async () => {
    advertise();
    const timers = new Timers();
    const client = create(serviceSettings(), ahead(timers));
    expect(client.tokenStatus()).toMatchObject({ isUsable: false, outage: undefined });
    expect(await client.tokenSource.get()).toMatchObject({ value: { accessToken: 'at-1' } });
    expect(client.tokenStatus()).toMatchObject({ isUsable: true, expiresAt: START + 3_600_000 });
    ports.advance(3_300_000);
    timers.fire(60_000);
    await expect.poll(() => client.tokenStatus()?.expiresAt).toBe(START + 6_900_000);
    expect(await client.tokenSource.get()).toMatchObject({ value: { accessToken: 'at-2' } });
    client.close();
    expect(timers.waiting).toEqual([]);
  });

  it('with the admin block has so only when asked for', async () => {
    advertise();
    const timers = new Timers();
    const once = create(application(), ahead(timers));
    await once.tokenSource.get();
    expect([once.tokenStatus(), timers.waiting]).toEqual([undefined, []]);
    const service = create(application(), { ...ahead(timers), refreshesAhead: true });
    await service.tokenSource.get();
    expect(timers.waiting).toEqual([60_000]);
    service.close();
  });

  it('keeps its token in the store that it is given, unless only memory is to be used', async () => {
    advertise();
    const kept = {
      accessToken: 'kept',
      expiresAt: START + 3_600_000,
      obtainedAt: START,
      refreshToken: undefined,
      scopes: ['all'],
    };
    const more = { ...ahead(new Timers()), openStore: storeHolding(kept) };
    const sharing = create(serviceSettings(), more);
    expect(await sharing.tokenSource.get()).toMatchObject({ value: { accessToken: 'kept' } });
    const alone = create(serviceSettings(), { ...more, keep: 'memory' });
    expect(await alone.tokenSource.get()).toMatchObject({ value: { accessToken: 'at-1' } });
  });

  it('whose platform is down says since when, and goes on once it is up', async () => {
    platform.script(`${SERVICE}/GetOAuth2Metadata`, { status: 503 });
    platform.script(`${SERVICE}/GetPublicClientConfig`, { status: 503 });
    const timers = new Timers();
    const client = create(serviceSettings({ 'union.auth.scopes': [] }), ahead(timers));
    const since = new Date(START).toISOString();
    for (let calls = 0; calls < 2; calls += 1)
      await expect(client.tokenSource.get()).rejects.toMatchObject({
        code: 'SP_PLATFORM_UNREACHABLE',
        message: expect.stringContaining(`no token was obtained since ${since}: `),
      });
    advertise();
    ports.advance(60_000);
    expect(await client.tokenSource.get()).toMatchObject({ value: { accessToken: 'at-1' } });
    client.close();
  });

  it('a person is not signed in again in the background, whatever is asked for', async () => {
    advertise();
    const timers = new Timers();
    const client = create(settingsOf({}), {
      ...ahead(timers),
      refreshesAhead: true,
      mayInteract: false,
    });
    expect(await client.tokenSource.get()).toMatchObject({ error: { error: 'login_required' } });
    expect([client.tokenStatus(), timers.waiting]).toEqual([undefined, []]);
  });
});

describe('a client of a person', () => {
  it('signs in as the advertised native app, with the advertised audience', async () => {
    const redirectUri = `http://localhost:${await freePort()}/callback`;
    advertise({ redirectUri, audience: 'human' });
    const client = create(settingsOf({}), {
      mayInteract: true,
      openBrowser: async (text) => {
        const url = new URL(text);
        expect(url.searchParams.get('audience')).toBe('human');
        const state = url.searchParams.get('state') ?? '';
        await fetch(`${redirectUri}?code=c0de&state=${state}`);
      },
    });
    expect(await client.tokenSource.get()).toMatchObject({ value: { accessToken: 'at-1' } });
    expect(posted()[0]?.form).toMatchObject({ client_id: 'native', code: 'c0de' });
    expect(await client.tokenKey()).toMatchObject({ issuer: idp.origin, clientId: 'native' });
  });

  it('who must not be asked gets login_required, and no browser', async () => {
    advertise();
    const client = create(settingsOf({}), { mayInteract: false });
    expect(await client.tokenSource.get()).toMatchObject({ error: { error: 'login_required' } });
    expect(ports.prompts).toEqual([]);
  });

  it('finds kept tokens and the header by what was learned, without a request', async () => {
    const learned = new Map<string, PlatformMetadata>([[platform.origin, metadataOf(idp.origin)]]);
    const kept = {
      accessToken: 'kept',
      expiresAt: START + 3_600_000,
      obtainedAt: START,
      refreshToken: 'rt',
      scopes: ['all'],
    };
    const client = create(settingsOf({}), {
      metadataCache: {
        read: (origin) => Promise.resolve(learned.get(origin)),
        write: () => Promise.reject(new Error('nothing is learned here')),
      },
      openStore: storeHolding(kept),
    });
    expect(await client.tokenSource.get()).toMatchObject({ value: { accessToken: 'kept' } });
    expect(await client.authorizationHeader()).toBe('core-authorization');
    expect([...platform.requests, ...posted()]).toEqual([]);
  });

  it.each([
    ['the issuer it was signed in at gets its refresh token', true],
    ['another issuer that the platform has come to name gets nothing of it', false],
  ])('%s', async (_, isSame) => {
    advertise();
    const kept = {
      accessToken: 'old',
      expiresAt: START - 1,
      obtainedAt: START - 3_600_000,
      refreshToken: 'refresh-token-of-the-issuer',
      scopes: ['all'],
    };
    const issuer = isSame ? idp.origin : 'https://former.example';
    const client = create(settingsOf({}), {
      mayInteract: false,
      metadataCache: {
        read: () => Promise.resolve(metadataOf(issuer)),
        write: () => Promise.resolve(),
      },
      openStore: storeHolding(kept),
    });
    expect(await client.tokenSource.get()).toMatchObject(
      isSame
        ? { ok: true, value: { accessToken: 'at-1' } }
        : { ok: false, error: { error: 'login_required' } },
    );
    expect(posted().map(({ form }) => form['refresh_token'])).toEqual(
      isSame ? [kept.refreshToken] : [],
    );
    idp.script('/revoke', {});
    const revoked = await client.revoke(kept);
    expect(revoked).toEqual({ ok: true, value: isSame ? 'revoked' : 'not_offered' });
    expect(posted().some(({ path }) => path === '/revoke')).toBe(isSame);
  });

  it('reports what it learned', async () => {
    advertise();
    const learned: string[] = [];
    const client = create(settingsOf({}), {
      metadataCache: {
        read: () => Promise.resolve(undefined),
        write: (origin, { clientId }) => {
          learned.push(`${origin} ${clientId}`);
          return Promise.resolve();
        },
      },
    });
    await client.authorizationHeader();
    expect(learned).toEqual([`${platform.origin} native`]);
  });

  it('goes on when it cannot keep what it learned, and warns', async () => {
    advertise();
    const outages: unknown[] = [];
    const client = create(settingsOf({}), {
      onOutage: (failure) => outages.push(failure),
      metadataCache: {
        read: () => Promise.resolve(undefined),
        write: () => Promise.reject(new Error('disk full')),
      },
    });
    expect(await client.authorizationHeader()).toBe('core-authorization');
    expect(outages).toHaveLength(1);
  });

  it('gives tokens back as the native app, and an application as itself', async () => {
    advertise();
    idp.script('/revoke', {});
    const kept = { accessToken: 'a', expiresAt: 0, obtainedAt: 0, refreshToken: 'r', scopes: [] };
    expect(await create(settingsOf({})).revoke(kept)).toEqual({ ok: true, value: 'revoked' });
    expect(posted().at(-1)?.form).toMatchObject({ client_id: 'native', token: 'r' });
    await create(application()).revoke(kept);
    expect(posted().at(-1)?.headers.authorization).toMatch(/^Basic /);
  });
});
