import {
  createSigningKey,
  forgeToken,
  ISSUER,
  IssuersInMemory,
  type SigningKey,
  WEB_CLIENT,
} from '@sallyport/testing/idp/forge';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { ClockTimers, settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createIssuers } from '../issuers.ts';
import { createLogoutTokenVerifier } from './logout-token-verifier.ts';

const KEY = createSigningKey('RS256', 'rsa');
const NEW_KEY = createSigningKey('RS256', 'new');
const EC_KEY = createSigningKey('ES256', 'ec');
const FOREIGN = createSigningKey('RS256', 'rsa');
const UNKNOWN = createSigningKey('RS256', 'unknown');
const METADATA_URL = `${ISSUER}/.well-known/openid-configuration`;
const UNREACHABLE = { ok: false, error: { reason: 'idp_unreachable' } };

async function setup(metadata: Readonly<Record<string, unknown>> = {}) {
  const clock = new Clock();
  const timers = new ClockTimers(clock);
  const idp = new IssuersInMemory({ [ISSUER]: [KEY.jwk, EC_KEY.jwk] });
  idp.answers.set(METADATA_URL, () =>
    Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/jwks`, ...metadata }),
  );
  const failures: unknown[] = [];
  const issuers = createIssuers({
    fetch: idp.fetch,
    now: clock.now,
    schedule: timers.schedule,
    random: () => 0,
  });
  onTestFinished(() => issuers.close());
  const issuer = issuers.of(ISSUER);
  const followed = issuer.metadata.follow({ needs: [], onFailure: () => {} });
  issuer.keys.follow({ onFailure: (cause) => failures.push(cause) });
  const verify = createLogoutTokenVerifier({
    clientId: WEB_CLIENT,
    metadata: followed,
    keys: issuer.keys,
    now: clock.now,
  });
  await settled();
  const forge = (key: SigningKey, header: Readonly<Record<string, unknown>> = {}) => {
    const now = clock.now() / 1_000;
    const claims = {
      iss: ISSUER,
      sub: 'ada',
      aud: WEB_CLIENT,
      iat: now,
      exp: now + 120,
      jti: 'j1',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
    return forgeToken(key, claims, { typ: 'logout+jwt', ...header });
  };
  return { clock, timers, idp, failures, verify, forge };
}

const refusedFor = (check: string) => ({ ok: false, error: { reason: 'token_invalid', check } });
const pendingFor = (retryAfterSeconds: number) => ({
  ok: false,
  error: { reason: 'key_pending', retryAfterSeconds },
});

describe('createLogoutTokenVerifier', () => {
  it('accepts a token that the IdP signed, and gives what it says', async () => {
    const { verify, forge } = await setup();
    expect(await verify(forge(KEY))).toMatchObject({
      ok: true,
      value: { issuer: ISSUER, subject: 'ada', sid: undefined, jti: 'j1', issuedAt: NOON },
    });
  });

  it('refuses a token of another key under the same id, and one of a key that is not published', async () => {
    const { verify, forge } = await setup();
    expect(await verify(forge(FOREIGN))).toEqual(refusedFor('signature'));
    expect(await verify(forge(UNKNOWN))).toEqual(refusedFor('unknown_key'));
  });

  it('leaves a token of a key that is not known open while the IdP is not asked again, and says until when', async () => {
    const { verify, forge, idp, clock } = await setup();
    // Forged, at the very moment at which it has the keys fetched.
    expect(await verify(forge(UNKNOWN))).toEqual(refusedFor('unknown_key'));
    idp.keys.set(ISSUER, [NEW_KEY.jwk]);
    expect(await verify(forge(NEW_KEY))).toEqual(pendingFor(1));
    expect(await verify(forge(UNKNOWN, { another: 1 }))).toEqual(pendingFor(1));
    // The first one was decided already.
    expect(await verify(forge(UNKNOWN))).toEqual(refusedFor('unknown_key'));
    expect(idp.keyRequests).toBe(2);
    clock.advance(1_000);
    expect((await verify(forge(NEW_KEY))).ok).toBe(true);
    expect(idp.keyRequests).toBe(3);
  });

  it('leaves open nothing but the key: a bad signature and other checks are refused meanwhile, too', async () => {
    const { verify, forge } = await setup();
    await verify(forge(UNKNOWN));
    expect(await verify(forge(UNKNOWN, { another: 1 }))).toEqual(pendingFor(1));
    expect(await verify(forge(FOREIGN))).toEqual(refusedFor('signature'));
    expect(await verify(forge(UNKNOWN, { typ: 'at+jwt' }))).toEqual(refusedFor('typ'));
    expect(await verify(forge(UNKNOWN, { alg: 'none' }))).toEqual(refusedFor('alg'));
    expect(await verify(forge(UNKNOWN, { alg: 'ES256' }))).toEqual(refusedFor('alg'));
  });

  it('refuses for its claims what is not for us, and asks the IdP for nothing', async () => {
    const { verify, forge, idp, clock } = await setup();
    const late = forge(UNKNOWN);
    clock.advance(3_600_000);
    const before = idp.asked.length;
    expect(await verify(late)).toEqual(refusedFor('exp'));
    expect(await verify(forge(UNKNOWN, { typ: 'at+jwt' }))).toEqual(refusedFor('typ'));
    expect(await verify(`${late}.x`)).toEqual(refusedFor('form'));
    expect(idp.asked).toHaveLength(before);
  });

  it.each<[readonly string[] | undefined, SigningKey, boolean]>([
    [undefined, KEY, true],
    [undefined, EC_KEY, false],
    [['ES256'], EC_KEY, true],
    [['ES256'], KEY, false],
    [['RS256', 'ES256'], EC_KEY, true],
    [[], KEY, false],
  ])('takes the algorithms of id_tokens, RS256 by default: %j', async (offered, key, accepted) => {
    const { verify, forge } = await setup({ id_token_signing_alg_values_supported: offered });
    const verified = await verify(forge(key));
    expect(verified.ok).toBe(accepted);
    if (!accepted) expect(verified).toEqual(refusedFor('alg'));
  });

  it.each(['none', 'HS256'])('never accepts alg %s, though the IdP offers it', async (alg) => {
    const offered = ['RS256', 'none', 'HS256'];
    const { verify, forge } = await setup({ id_token_signing_alg_values_supported: offered });
    expect(await verify(forge(KEY, { alg }))).toEqual(refusedFor('alg'));
  });

  it('accepts a token of a new key right after a rotation, and fetches for it once', async () => {
    const { verify, forge, idp } = await setup();
    await verify(forge(KEY));
    idp.keys.set(ISSUER, [NEW_KEY.jwk]);
    expect((await verify(forge(NEW_KEY))).ok).toBe(true);
    expect((await verify(forge(NEW_KEY))).ok).toBe(true);
    expect(idp.keyRequests).toBe(2);
  });

  it('asks the IdP five times a minute at most, however many forged tokens come', async () => {
    const { verify, forge, idp, timers } = await setup();
    const before = idp.keyRequests;
    for (let second = 0; second < 60; second += 1) {
      const flood = Array.from({ length: 20 }, (_, at) =>
        verify(forge(KEY, { kid: `key-${second}-${at}` })),
      );
      for (const { ok } of await Promise.all(flood)) expect(ok).toBe(false);
      await timers.advance(1_000);
    }
    expect(idp.keyRequests - before).toBeGreaterThan(1);
    expect(idp.keyRequests - before).toBeLessThanOrEqual(5);
    expect((await verify(forge(KEY))).ok).toBe(true);
  });

  it('is unreachable while the IdP is down, and asks it once and not for each token', async () => {
    const { verify, forge, idp, clock } = await setup();
    idp.isDown = true;
    clock.advance(86_400_000);
    const before = idp.asked.length;
    for (let turn = 0; turn < 5; turn += 1) expect(await verify(forge(KEY))).toEqual(UNREACHABLE);
    expect(idp.asked).toHaveLength(before + 1);
  });

  it('goes on with the keys it has while the IdP is down; a new key is undecided then', async () => {
    const { verify, forge, idp, clock } = await setup();
    idp.isDown = true;
    clock.advance(3_600_000);
    expect((await verify(forge(KEY))).ok).toBe(true);
    expect(await verify(forge(NEW_KEY))).toEqual(UNREACHABLE);
  });

  it('forgets a withdrawn key within ten minutes', async () => {
    const { verify, forge, idp, timers } = await setup();
    idp.keys.set(ISSUER, [NEW_KEY.jwk]);
    await timers.advance(600_000);
    expect(await verify(forge(KEY))).toEqual(refusedFor('unknown_key'));
  });

  it('asks for missing metadata once a second at most, and never for a token that is none', async () => {
    const { verify, forge, idp, clock } = await setup({ issuer: 'https://evil.example' });
    clock.advance(1_000);
    const before = idp.asked.length;
    expect(await verify('a.b.c')).toMatchObject({ error: { reason: 'token_invalid' } });
    expect(idp.asked).toHaveLength(before);
    for (let turn = 0; turn < 5; turn += 1) expect(await verify(forge(KEY))).toEqual(UNREACHABLE);
    expect(idp.asked).toHaveLength(before + 1);
  });

  it.each([undefined, 'http://idp.example/jwks', 'file:///etc/passwd', 'no address'])(
    'fetches no keys from %s',
    async (address) => {
      const { verify, forge, idp, failures } = await setup({ jwks_uri: address });
      expect(await verify(forge(KEY))).toEqual(UNREACHABLE);
      expect(idp.keyRequests).toBe(0);
      expect(failures).toContainEqual(expect.objectContaining({ code: 'SP_IDP_PROTOCOL' }));
    },
  );
});
