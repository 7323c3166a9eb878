/**
 * Keys are changed while people work: those that seal sessions, and those that sign bearer tokens.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { honestAnswer } from '@sallyport/testing/idp/fake-idp';
import { exportJWK, generateKeyPair } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { exchange } from '../wire/exchange.ts';
import { rs256 } from '../wire/forge.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Service, startService } from '../wire/platform.ts';
import { run } from '../wire/process.ts';
import {
  asSessions,
  expectNoneFailed,
  linesOf,
  ready,
  signIn,
  told,
  underLoad,
} from './under-load.ts';

/** After so long a new key seals. */
const SEALS_AFTER_MS = 600_000;
/** Within this time the IdP is asked for an unknown key once. */
const COOL_DOWN_MS = 30_000;
const ROTATIONS = 3;

interface Ring {
  readonly keys: readonly { readonly kid: string }[];
}

describe.each([
  ['one process', '1'],
  ['workers', '2'],
])('In %s', (_, workers) => {
  let clock: MovedClock;
  let service: Service;
  beforeEach(async () => {
    clock = await startMovedClock();
    service = await startService({ SALLYPORT_WORKERS: workers }, [], { clock });
    service.idp.now = clock.now;
    // Nothing is renewed on the way: what was sealed with the first key is opened to the end.
    service.idp.answer = (idToken) => ({
      body: honestAnswer(idToken, 'access-token-of-ada', { refresh_token: undefined }),
    });
    await ready(service);
  });
  afterEach(async () => {
    await service.stop();
    await clock.close();
  });

  const kids = (): readonly string[] =>
    (JSON.parse(readFileSync(join(service.state, 'key-ring.json'), 'utf8')) as Ring).keys.map(
      ({ kid }) => kid,
    );

  it('key rotation under 3,000 requests a second: 0 failed', async () => {
    const cookies = [await signIn(service), await signIn(service)];
    const [first] = kids();
    const read = linesOf(service, 'key_ring_loaded').length;
    const report = await underLoad(service.url, asSessions(cookies), async (load) => {
      for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
        const { code } = await run(['rotate-keys'], {
          ...clock.environment,
          PUBLIC_URL: service.url,
          OIDC_BASE_URL: service.idp.issuer,
          OIDC_CLIENT_ID: 'web-client',
          CLI_CLIENT_ID: 'cli-client',
          SALLYPORT_STATE_DIRECTORY: service.state,
        });
        expect(code).toBe(0);
        await told(service, 'key_ring_loaded', read + rotation * Number(workers));
        await clock.advance(SEALS_AFTER_MS + 1_000);
        // Sealed with the new key, from now on asked for with the others.
        await signIn(service);
        const { ok } = load;
        const seen = ok();
        await expect.poll(ok).toBeGreaterThan(seen + 500);
      }
    });
    expectNoneFailed(`key rotation, ${workers} serving`, report);
    expect(kids()).toHaveLength(ROTATIONS + 1);
    expect(kids()).toContain(first);
    const newest = await signIn(service);
    for (const cookie of [...cookies, newest])
      expect((await exchange(`${service.url}/me`, { headers: { cookie } })).status).toBe(200);
  });

  it("rotation of the identity provider's signing key under 3,000 requests a second: 0 failed", async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const { idp, url } = service;
    const seconds = Math.floor(clock.now() / 1_000);
    const claims = { iat: seconds, exp: seconds + 600 };
    const bearer = (token: string) => ({
      path: '/me',
      headers: { [BEARER_HEADER]: `Bearer ${token}` },
    });
    const old = await accessToken(idp, url, claims);
    const fresh = await accessToken(idp, url, claims, { kid: 'k2' }, rs256(privateKey));
    const ask = async (token: string) =>
      (await exchange(`${url}/me`, { headers: bearer(token).headers })).status;
    // The negative twin: before its key is published a token is good for nothing.
    expect([await ask(old), await ask(fresh)]).toEqual([200, 401]);

    const report = await underLoad(url, [bearer(old)], async () => {
      idp.keys = [{ ...(await exportJWK(publicKey)), kid: 'k2', alg: 'RS256', use: 'sig' }];
      await clock.advance(COOL_DOWN_MS + 1_000);
      const statuses = new Set<number>();
      // Each process learns the key with the first token that names it.
      for (let count = 0; count < 40; count += 1) statuses.add(await ask(fresh));
      expect(statuses).toEqual(new Set([200]));
    });
    const later = await underLoad(url, [bearer(old), bearer(fresh)], async () => {});
    expectNoneFailed(`signing key rotation, ${workers} serving`, report);
    expectNoneFailed(`both signing keys, ${workers} serving`, later);
  });
});
