import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SallyportError } from '@sallyport/protocol';
import { createMemoryLock } from '@sallyport/testing/client/memory-lock';
import { setUpServices } from '@sallyport/testing/client/token-endpoint';
import { createTokens, KEY } from '@sallyport/testing/client/tokens';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import { createFileTokenLock } from '../lock/file-token-lock.ts';
import { createFileTokenStore } from '../store/file-token-store.ts';
import { createMemoryTokenStore } from '../store/memory-token-store.ts';
import type { TokenStore } from '../token-store.ts';
import type { ServiceTokenSource } from './create-service-token-source.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** The access token, or the words of what there is instead. */
async function tokenOf(source: ServiceTokenSource): Promise<string> {
  try {
    const token = await source.get();
    return token.ok ? token.value.accessToken : token.error.description;
  } catch (error) {
    return String(error);
  }
}

/** A service that has had its token for 55 minutes of an hour; the endpoint answers at once. */
async function setUpLate() {
  const world = setUpServices();
  world.endpoint.latencyMs = 0;
  const source = world.create();
  expect(await tokenOf(source)).toBe('access-1');
  await world.advance(55 * MINUTE - 1);
  return { ...world, source };
}

describe('Service token source: the endpoint is down', () => {
  it('for half an hour: calls go on with the living token until 10 s before its end, then fail at once with since when and why, and go on when it is back', async () => {
    const { endpoint, source, advance, outages } = await setUpLate();
    endpoint.fault = 'down';
    await advance(5 * MINUTE - 10 * SECOND);
    expect(await tokenOf(source)).toBe('access-1');
    expect(outages.length).toBeGreaterThan(3);
    await advance(1);
    const asked = endpoint.requests.length;
    await expect(source.get()).rejects.toMatchObject({
      code: 'SP_IDP_UNREACHABLE',
      message:
        'SP_IDP_UNREACHABLE (idp): no token was obtained since 2026-01-05T12:55:00.000Z: https://idp.example does not answer',
    });
    expect(source.status()).toMatchObject({
      isUsable: false,
      outage: { description: expect.stringContaining('since 2026-01-05T12:55:00.000Z') },
    });
    for (let calls = 0; calls < 1_000; calls += 1) await expect(source.get()).rejects.toThrow();
    expect(endpoint.requests).toHaveLength(asked);
    await advance(25 * MINUTE);
    expect(await tokenOf(source)).toContain('since 2026-01-05T12:55:00.000Z');
    endpoint.fault = undefined;
    await advance(MINUTE);
    expect(await tokenOf(source)).toBe('access-2');
    expect(source.status()).toMatchObject({ isUsable: true, outage: undefined });
  });

  it('attempts are spaced by a back-off of at most a minute: half an hour costs no more than 80, one at a time', async () => {
    const { endpoint, source, advance } = await setUpLate();
    endpoint.fault = 'down';
    endpoint.latencyMs = 5 * SECOND;
    const before = endpoint.requests.length;
    await advance(30 * MINUTE);
    const times = endpoint.requests.slice(before).map(({ at }) => at);
    expect(times.length).toBeGreaterThan(25);
    expect(times.length).toBeLessThan(80);
    expect(endpoint.mostUnderWay).toBe(1);
    source.close();
  });

  it('callers do not wait for an endpoint that hangs once it is known to be down', async () => {
    const { endpoint, source, advance } = await setUpLate();
    endpoint.fault = 'down';
    await advance(6 * MINUTE);
    endpoint.latencyMs = 10 * MINUTE;
    await advance(MINUTE);
    expect(endpoint.underWay).toBe(1);
    const answer = await Promise.race([tokenOf(source), settled()]);
    expect(answer).toContain('no token was obtained since');
    source.close();
  });

  it('from the start: the first call fails with the cause, the next ones at once, and one is served when it is there', async () => {
    const world = setUpServices();
    world.endpoint.fault = 'busy';
    world.endpoint.latencyMs = 0;
    const source = world.create();
    expect(await tokenOf(source)).toContain('https://idp.example answered 503');
    expect(await tokenOf(source)).toContain('https://idp.example answered 503');
    expect(world.endpoint.requests).toHaveLength(1);
    world.endpoint.fault = undefined;
    await world.advance(10 * SECOND);
    expect(await tokenOf(source)).toBe('access-1');
  });

  it('names the first cause and, where it is another, the last', async () => {
    const { endpoint, source, advance } = await setUpLate();
    endpoint.fault = 'down';
    await advance(2 * MINUTE);
    endpoint.fault = undefined;
    endpoint.secrets = [];
    await advance(4 * MINUTE);
    expect(await tokenOf(source)).toMatch(
      /^No token was obtained since 2026-01-05T12:55:00\.000Z: https:\/\/idp\.example does not answer; at 2026-01-05T1[23]:[0-9:.]+Z: The identity provider answered invalid_client\.$/,
    );
  });

  it('a platform that cannot be asked at the start is an outage like any other', async () => {
    const world = setUpServices();
    let isDown = true;
    const failure = new SallyportError('SP_PLATFORM_UNREACHABLE', {
      component: 'platform',
      detail: 'https://platform.example does not answer',
    });
    const source = world.create({
      compose: async () => {
        if (isDown) throw failure;
        return {
          key: KEY,
          grant: {
            kind: 'client_credentials',
            isInteractive: false,
            obtain: async () => ({ ok: true, value: createTokens('platform') }),
          },
        };
      },
    });
    await expect(source.get()).rejects.toMatchObject({ code: 'SP_PLATFORM_UNREACHABLE' });
    isDown = false;
    await world.advance(2 * SECOND);
    expect(await tokenOf(source)).toBe('access-platform');
  });
});

describe('Service token source: a token that the platform refuses', () => {
  it('is replaced once for all that bring it', async () => {
    const { endpoint, source } = await setUpLate();
    const refused = await source.get();
    if (!refused.ok) throw new Error('no token');
    const all = await Promise.all(Array.from({ length: 20 }, () => source.replace(refused.value)));
    expect(all.every((one) => one.ok && one.value.accessToken === 'access-2')).toBe(true);
    expect(endpoint.requests).toHaveLength(2);
  });

  it('and whose replacement is refused, too, is not replaced in a loop', async () => {
    const { endpoint, source, advance } = await setUpLate();
    for (let calls = 0; calls < 20; calls += 1) {
      const token = await source.get();
      if (token.ok) await source.replace(token.value);
    }
    expect(endpoint.requests).toHaveLength(2);
    await advance(31 * SECOND);
    const token = await source.get();
    if (!token.ok) throw new Error('no token');
    expect(await source.replace(token.value)).toMatchObject({ value: { accessToken: 'access-3' } });
  });

  it('is not given out in place of a new one while the endpoint is down', async () => {
    const { endpoint, source } = await setUpLate();
    const refused = await source.get();
    if (!refused.ok) throw new Error('no token');
    endpoint.fault = 'down';
    await expect(source.replace(refused.value)).rejects.toMatchObject({
      code: 'SP_IDP_UNREACHABLE',
    });
    expect(await tokenOf(source)).toBe('access-1');
  });
});

describe('Service token source: the secret is rotated', () => {
  /** A mounted Secret: the folder is exchanged behind a symbolic link. */
  function mountSecret() {
    const folder = createTemporaryFolder();
    let version = 0;
    const write = (secret: string): void => {
      version += 1;
      mkdirSync(join(folder, `..${version}`));
      writeFileSync(join(folder, `..${version}`, 'client_secret'), secret);
      rmSync(join(folder, '..data_tmp'), { force: true });
      symlinkSync(`..${version}`, join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    write('one');
    symlinkSync('..data/client_secret', join(folder, 'client_secret'));
    const path = join(folder, 'client_secret');
    return {
      write,
      source: { from: 'file', path, key: 'union.auth.clientSecretLocation' } as const,
    };
  }

  async function setUpMounted() {
    const world = setUpServices();
    world.endpoint.latencyMs = 0;
    const secret = mountSecret();
    const source = world.create({}, secret.source);
    expect(await tokenOf(source)).toBe('access-1');
    return { ...world, source, secret };
  }

  it.each(['invalid_client', 'keycloak'] as const)(
    'at the identity provider first (%s): calls go on, and the new secret is used soon after it is mounted',
    async (way) => {
      const { endpoint, source, secret, advance } = await setUpMounted();
      if (way === 'keycloak') endpoint.fault = way;
      endpoint.secrets = ['two'];
      await advance(57 * MINUTE);
      expect(await tokenOf(source)).toBe('access-1');
      expect(source.status().outage?.attempts).toBeGreaterThan(0);
      secret.write('two');
      await advance(MINUTE);
      expect(await tokenOf(source)).toBe('access-2');
      expect(endpoint.requests.at(-1)?.secret).toBe('two');
    },
  );

  it('at the file first: the old token is used on, and the new secret from when the provider takes it', async () => {
    const { endpoint, source, secret, advance } = await setUpMounted();
    secret.write('two');
    await advance(56 * MINUTE);
    expect(await tokenOf(source)).toBe('access-1');
    endpoint.secrets = ['two'];
    await advance(MINUTE);
    expect(await tokenOf(source)).toBe('access-2');
  });

  it.each(['invalid_client', 'keycloak'] as const)(
    'while a request is under way (%s): the file is read once more, and the request repeated at once',
    async (way) => {
      const { endpoint, source, secret, advance, outages } = await setUpMounted();
      if (way === 'keycloak') endpoint.fault = way;
      endpoint.secrets = ['two'];
      endpoint.latencyMs = SECOND;
      await advance(55 * MINUTE + 100);
      secret.write('two');
      await advance(5 * SECOND);
      expect(await tokenOf(source)).toBe('access-2');
      expect(outages).toEqual([]);
      expect(endpoint.requests.map((request) => request.secret).slice(-1)).toEqual(['two']);
    },
  );

  it('not at all: a refused request is not repeated', async () => {
    const { endpoint, source, advance } = await setUpMounted();
    endpoint.fault = 'keycloak';
    endpoint.secrets = ['two'];
    await advance(55 * MINUTE + 500);
    expect(endpoint.requests).toHaveLength(2);
    source.close();
  });
});

describe('Service token source: processes that share a store', () => {
  it('obtain one token together, and renew it once', async () => {
    const world = setUpServices({ seed: 3 });
    const [store, lock] = [createMemoryTokenStore(), createMemoryLock()];
    const sources = Array.from({ length: 10 }, () =>
      world.create({ openStore: async () => store, lock, startSpreadMs: 3_000 }),
    );
    const all = sources.map(tokenOf);
    await world.advance(10 * SECOND);
    expect(new Set(await Promise.all(all))).toEqual(new Set(['access-1']));
    await world.advance(59 * MINUTE);
    expect(new Set(await Promise.all(sources.map(tokenOf)))).toEqual(new Set(['access-2']));
    expect(world.endpoint.requests).toHaveLength(2);
    expect(world.endpoint.mostUnderWay).toBe(1);
    for (const source of sources) source.close();
  });

  it('a restarted one takes the kept token, without a request and without waiting', async () => {
    const world = setUpServices();
    const store = createMemoryTokenStore();
    await store.write(KEY, createTokens('kept', { refreshToken: undefined }));
    const source = world.create({ openStore: async () => store, startSpreadMs: 3_000 });
    expect(await tokenOf(source)).toBe('access-kept');
    expect(world.endpoint.requests).toEqual([]);
  });

  it('of real files do so, too, and a folder that cannot be made keeps none of them from its token', async () => {
    const world = setUpServices();
    world.endpoint.latencyMs = 0;
    const root = createTemporaryFolder();
    const shareIn = (folder: string) => ({
      openStore: async () => createFileTokenStore(folder),
      lock: createFileTokenLock({
        folder,
        now: world.clock.now,
        wait: () => settled(),
        releaseAtExit: () => () => undefined,
      }),
    });
    const folder = join(root, 'tokens');
    const sources = Array.from({ length: 5 }, () => world.create(shareIn(folder)));
    expect(new Set(await Promise.all(sources.map(tokenOf)))).toEqual(new Set(['access-1']));
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.json$/)]);
    expect(world.endpoint.requests).toHaveLength(1);
    expect(world.outages).toEqual([]);
    writeFileSync(join(root, 'file'), '');
    const alone = Array.from({ length: 2 }, () =>
      world.create(shareIn(join(root, 'file', 'tokens'))),
    );
    expect(await Promise.all(alone.map(tokenOf))).toEqual(['access-2', 'access-3']);
    expect(world.outages).toContainEqual(
      expect.objectContaining({ code: 'SP_TOKEN_STORE_UNUSABLE' }),
    );
    for (const source of [...sources, ...alone]) source.close();
  });

  const readOnly = new SallyportError('SP_TOKEN_STORE_UNUSABLE', {
    component: 'token-store:file',
    detail: '/tokens cannot be used (EROFS)',
  });
  const broken: TokenStore = {
    kind: 'file',
    read: async () => undefined,
    write: () => Promise.reject(readOnly),
    remove: () => Promise.reject(readOnly),
  };

  it.each([
    ['a store that cannot be opened', { openStore: () => Promise.reject(readOnly) }],
    [
      'a read-only root',
      { openStore: async () => broken, lock: { acquire: () => Promise.reject(readOnly) } },
    ],
    [
      'a lock whose holder is stuck',
      {
        openStore: async () => createMemoryTokenStore(),
        lock: {
          acquire: () =>
            Promise.reject(new SallyportError('SP_TOKEN_LOCK_TIMEOUT', { component: 'test' })),
        },
      },
    ],
  ])('with %s a process goes on alone, with its memory, and reports it', async (_, more) => {
    const world = setUpServices();
    world.endpoint.latencyMs = 0;
    const source = world.create(more);
    expect(await tokenOf(source)).toBe('access-1');
    expect(world.outages.length).toBeGreaterThan(0);
    await world.advance(30 * MINUTE);
    expect(await tokenOf(source)).toBe('access-1');
    await world.advance(30 * MINUTE);
    expect(await tokenOf(source)).toBe('access-2');
    expect(world.endpoint.requests).toHaveLength(2);
  });
});
