import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  applyKeycloak,
  createDeploymentSpec,
  createKeycloakAdmin,
  destroyKeycloak,
  type KeycloakTarget,
  planKeycloak,
} from '../../packages/idp/src/provision/index.ts';
import { KEYCLOAK } from './keycloak-part.ts';
import { makeRealm, type Realm } from './realm.ts';

const PUBLIC_URL = 'https://platform.example.com';
/** Whatever a client ID may hold: slashes, dots, and what ends a text in other languages. */
const HOSTILE = { web: `../..$\{web}"'\\&?#<`, native: '%2e%2e/cli', service: '..' };
/** Setups have no more writes than this. */
const WRITES_MAX = 60;

describe.skipIf(KEYCLOAK.isLeftOut)('Keycloak: a setup that does not come to its end', () => {
  let realm: Realm;
  let before: string;
  let target: KeycloakTarget;
  beforeAll(async () => {
    realm = await makeRealm();
    before = await realm.snapshot();
    target = targetOver(fetch);
  }, 400_000);
  afterAll(() => realm.remove());

  /** The realm as a target, over a network that fails one write. */
  const targetOver = (network: typeof fetch): KeycloakTarget => ({
    admin: createKeycloakAdmin({
      url: realm.issuer.replace(/\/realms\/.*/, ''),
      adminRealm: 'master',
      credentials: { kind: 'user', username: 'admin', password: realm.adminPassword },
      fetch: network,
    }),
    realm: realm.name,
    spec: createDeploymentSpec(PUBLIC_URL, HOSTILE, { furtherServices: ['a/b'] }),
    createsRealm: false,
    rotatesRefreshTokens: true,
  });
  const failing = (nth: number, arrives: boolean): typeof fetch => {
    let writes = 0;
    return async (input, init) => {
      const isWrite = init?.method !== undefined && /PUT|DELETE/.test(init.method);
      const isCreation = init?.method === 'POST' && typeof init.body === 'string';
      if (!isWrite && !isCreation) return fetch(input, init);
      writes += 1;
      if (writes !== nth) return fetch(input, init);
      if (arrives) await fetch(input, init);
      throw new TypeError('the connection ended');
    };
  };
  const isClean = async () => {
    const { steps, problems } = await planKeycloak(target);
    return problems.length === 0 && steps.every(({ action }) => action === 'unchanged');
  };

  it('is continued by the next wherever it ended, before a write or after one, and removed without a rest', async () => {
    let ended = 0;
    for (let nth = 1; nth <= WRITES_MAX; nth += 1) {
      const isLostAfterwards = nth % 2 === 0;
      const first = await applyKeycloak(targetOver(failing(nth, isLostAfterwards))).then(
        () => 'done',
        (error: unknown) => String(error),
      );
      if (first !== 'done') {
        expect(first).toContain('SP_IDP_UNREACHABLE');
        ended += 1;
      }
      const { secrets } = await applyKeycloak(target);
      expect([nth, await isClean(), secrets.size]).toEqual([nth, true, 3]);
      await destroyKeycloak({ ...target, publicUrl: PUBLIC_URL });
      expect([nth, (await realm.snapshot()) === before]).toEqual([nth, true]);
      if (first === 'done') break;
    }
    expect(ended).toBeGreaterThan(8);
  }, 400_000);

  it('a removal is continued by the next wherever it ended', async () => {
    for (const nth of [1, 2, 4, 6]) {
      await applyKeycloak(target);
      const removal = { ...targetOver(failing(nth, true)), publicUrl: PUBLIC_URL };
      await expect(destroyKeycloak(removal)).rejects.toThrow('SP_IDP_UNREACHABLE');
      await destroyKeycloak({ ...target, publicUrl: PUBLIC_URL });
      expect([nth, (await realm.snapshot()) === before]).toEqual([nth, true]);
    }
  }, 200_000);

  it('two at once leave one setup: each is done or says that the other was there, and the next changes nothing', async () => {
    for (let round = 0; round < 3; round += 1) {
      const both = await Promise.allSettled([
        applyKeycloak(target),
        applyKeycloak(targetOver(fetch)),
      ]);
      for (const one of both)
        if (one.status === 'rejected')
          expect(String(one.reason)).toMatch(/made it meanwhile: run the command again/);
      await applyKeycloak(target);
      expect(await isClean()).toBe(true);
      await destroyKeycloak({ ...target, publicUrl: PUBLIC_URL });
      expect((await realm.snapshot()) === before).toBe(true);
    }
  }, 200_000);
});
