import { describe, expect, it, onTestFinished } from 'vitest';
import { createIssuerFetch } from '../bearer/issuer-request.ts';
import { Clock, NOON } from '../testing/clock.ts';
import { ClockTimers } from '../testing/clock-timers.ts';
import {
  createSigningKey,
  forgeToken,
  ISSUER,
  IssuersInMemory,
  type SigningKey,
  WEB_CLIENT,
} from '../testing/forge.ts';
import { createLogoutTokenVerifier, type PublishedIdp } from './logout-token-verifier.ts';

const KEY = createSigningKey('RS256', 'rsa');
const NEW_KEY = createSigningKey('RS256', 'new');
const EC_KEY = createSigningKey('ES256', 'ec');
const FOREIGN = createSigningKey('RS256', 'rsa');
const UNKNOWN = createSigningKey('RS256', 'unknown');
const METADATA: PublishedIdp = { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks` };
const COOL_DOWN_MS = 30_000;
const UNREACHABLE = { ok: false, error: { reason: 'idp_unreachable' } };

function setup(metadata: PublishedIdp = METADATA) {
  const clock = new Clock();
  const timers = new ClockTimers(clock);
  const issuers = new IssuersInMemory({ [ISSUER]: [KEY.jwk, EC_KEY.jwk] });
  const failures: unknown[] = [];
  const idp: { metadata: PublishedIdp | undefined; needed: number } = { metadata, needed: 0 };
  const verifier = createLogoutTokenVerifier({
    clientId: WEB_CLIENT,
    current: () => idp.metadata,
    need: async () => {
      idp.needed += 1;
      return idp.metadata;
    },
    fetch: createIssuerFetch({ fetch: issuers.fetch, now: clock.now }),
    schedule: timers.schedule,
    now: clock.now,
    onFailure: (cause) => failures.push(cause),
  });
  onTestFinished(() => verifier.close());
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
  return { clock, timers, issuers, failures, idp, verifier, forge };
}

const refusedFor = (check: string) => ({ ok: false, error: { reason: 'token_invalid', check } });
const pendingFor = (retryAfterSeconds: number) => ({
  ok: false,
  error: { reason: 'key_pending', retryAfterSeconds },
});

describe('createLogoutTokenVerifier', () => {
  it('accepts a token that the IdP signed, and gives what it says', async () => {
    const { verifier, forge } = setup();
    expect(await verifier.verify(forge(KEY))).toMatchObject({
      ok: true,
      value: { issuer: ISSUER, subject: 'ada', sid: undefined, jti: 'j1', issuedAt: NOON },
    });
  });

  it('refuses a token of another key under the same id, and one of a key that is not published', async () => {
    const { verifier, forge, clock } = setup();
    expect(await verifier.verify(forge(FOREIGN))).toEqual(refusedFor('signature'));
    clock.advance(COOL_DOWN_MS);
    expect(await verifier.verify(forge(UNKNOWN))).toEqual(refusedFor('unknown_key'));
  });

  it('leaves a token of a key that is not known open while the IdP is not asked again, and says until when', async () => {
    const { verifier, forge, issuers, clock } = setup();
    await verifier.verify(forge(KEY));
    clock.advance(COOL_DOWN_MS);
    // Forged, at the very moment at which it has the keys fetched.
    expect(await verifier.verify(forge(UNKNOWN))).toEqual(refusedFor('unknown_key'));
    issuers.keys.set(ISSUER, [NEW_KEY.jwk]);
    expect(await verifier.verify(forge(NEW_KEY))).toEqual(pendingFor(30));
    clock.advance(20_500);
    expect(await verifier.verify(forge(NEW_KEY))).toEqual(pendingFor(10));
    expect(await verifier.verify(forge(UNKNOWN))).toEqual(pendingFor(10));
    expect(issuers.keyRequests).toBe(2);
    clock.advance(9_500);
    expect((await verifier.verify(forge(NEW_KEY))).ok).toBe(true);
    expect(issuers.keyRequests).toBe(3);
  });

  it('leaves open nothing but the key: a bad signature and other checks are refused in the cool-down too', async () => {
    const { verifier, forge } = setup();
    await verifier.verify(forge(KEY));
    expect(await verifier.verify(forge(FOREIGN))).toEqual(refusedFor('signature'));
    expect(await verifier.verify(forge(UNKNOWN, { typ: 'at+jwt' }))).toEqual(refusedFor('typ'));
    expect(await verifier.verify(forge(UNKNOWN, { alg: 'none' }))).toEqual(refusedFor('alg'));
    expect(await verifier.verify(forge(UNKNOWN, { alg: 'ES256' }))).toEqual(refusedFor('alg'));
  });

  it('refuses for its claims what is not for us, and asks the IdP for nothing', async () => {
    const { verifier, forge, issuers, clock } = setup();
    const late = forge(KEY);
    clock.advance(3_600_000);
    expect(await verifier.verify(late)).toEqual(refusedFor('exp'));
    expect(await verifier.verify(forge(KEY, { typ: 'at+jwt' }))).toEqual(refusedFor('typ'));
    expect(await verifier.verify(`${late}.x`)).toEqual(refusedFor('form'));
    expect(issuers.asked).toEqual([]);
  });

  it('fetches nothing before the first token', () => {
    const { issuers } = setup();
    expect(issuers.asked).toEqual([]);
  });

  it.each<[readonly string[] | undefined, SigningKey, boolean]>([
    [undefined, KEY, true],
    [undefined, EC_KEY, false],
    [['ES256'], EC_KEY, true],
    [['ES256'], KEY, false],
    [['RS256', 'ES256'], EC_KEY, true],
    [[], KEY, false],
  ])('takes the algorithms of id_tokens, RS256 by default: %j', async (offered, key, accepted) => {
    const { verifier, forge } = setup({
      ...METADATA,
      ...(offered === undefined ? {} : { id_token_signing_alg_values_supported: offered }),
    });
    const verified = await verifier.verify(forge(key));
    expect(verified.ok).toBe(accepted);
    if (!accepted) expect(verified).toEqual(refusedFor('alg'));
  });

  it.each(['none', 'HS256'])('never accepts alg %s, though the IdP offers it', async (alg) => {
    const offered = ['RS256', 'none', 'HS256'];
    const { verifier, forge } = setup({
      ...METADATA,
      id_token_signing_alg_values_supported: offered,
    });
    expect(await verifier.verify(forge(KEY, { alg }))).toEqual(refusedFor('alg'));
  });

  it('accepts a token of a new key after a rotation, and fetches for it once', async () => {
    const { verifier, forge, issuers, clock } = setup();
    await verifier.verify(forge(KEY));
    issuers.keys.set(ISSUER, [NEW_KEY.jwk]);
    clock.advance(30_000);
    expect((await verifier.verify(forge(NEW_KEY))).ok).toBe(true);
    expect((await verifier.verify(forge(NEW_KEY))).ok).toBe(true);
    expect(issuers.keyRequests).toBe(2);
    clock.advance(COOL_DOWN_MS);
    expect(await verifier.verify(forge(KEY))).toEqual(refusedFor('unknown_key'));
  });

  it('asks the IdP once per cool-down, however many forged tokens come', async () => {
    const { verifier, forge, issuers, clock } = setup();
    await verifier.verify(forge(KEY));
    clock.advance(30_000);
    const flood = () =>
      Promise.all(
        Array.from({ length: 50 }, (_, at) => verifier.verify(forge(KEY, { kid: `key-${at}` }))),
      );
    for (const turn of await flood()) expect(turn).toEqual(refusedFor('unknown_key'));
    await Promise.all([UNKNOWN, FOREIGN].map((key) => verifier.verify(forge(key))));
    await Promise.all([UNKNOWN, FOREIGN].map((key) => verifier.verify(forge(key))));
    expect(issuers.keyRequests).toBe(2);
    expect((await verifier.verify(forge(KEY))).ok).toBe(true);
  });

  it('asks a network that is down once per cool-down, and tells that nobody can tell', async () => {
    const { verifier, forge, issuers, failures } = setup();
    issuers.isDown = true;
    for (let turn = 0; turn < 5; turn += 1)
      expect(await verifier.verify(forge(KEY))).toEqual(UNREACHABLE);
    expect(issuers.keyRequests).toBe(1);
    expect(failures).toHaveLength(1);
  });

  it('goes on with the keys it has while the IdP is down; a new key is undecided then', async () => {
    const { verifier, forge, issuers, clock } = setup();
    await verifier.verify(forge(KEY));
    issuers.isDown = true;
    clock.advance(3_600_000);
    expect((await verifier.verify(forge(KEY))).ok).toBe(true);
    expect(await verifier.verify(forge(NEW_KEY))).toEqual(UNREACHABLE);
  });

  it('forgets a withdrawn key within ten minutes', async () => {
    const { verifier, forge, issuers, timers, clock } = setup();
    await verifier.verify(forge(KEY));
    issuers.keys.set(ISSUER, [NEW_KEY.jwk]);
    await timers.advance(600_000);
    // Refused either way; for good as soon as the IdP can be asked once more.
    expect(await verifier.verify(forge(KEY))).toEqual(pendingFor(30));
    clock.advance(COOL_DOWN_MS);
    expect(await verifier.verify(forge(KEY))).toEqual(refusedFor('unknown_key'));
  });

  it('asks for missing metadata once per cool-down, and never for a token that is none', async () => {
    const { verifier, forge, idp } = setup();
    idp.metadata = undefined;
    expect(await verifier.verify('a.b.c')).toMatchObject({ error: { reason: 'token_invalid' } });
    expect(idp.needed).toBe(0);
    for (let turn = 0; turn < 5; turn += 1)
      expect(await verifier.verify(forge(KEY))).toEqual(UNREACHABLE);
    expect(idp.needed).toBe(1);
  });

  it('needs no second attempt once the metadata is there', async () => {
    const { verifier, forge, idp, clock } = setup();
    idp.metadata = undefined;
    expect(await verifier.verify(forge(KEY))).toEqual(UNREACHABLE);
    idp.metadata = METADATA;
    clock.advance(30_000);
    expect((await verifier.verify(forge(KEY))).ok).toBe(true);
  });

  it.each([undefined, 'http://idp.example/jwks', 'file:///etc/passwd', 'no address'])(
    'fetches no keys from %s',
    async (address) => {
      const { verifier, forge, issuers, failures } = setup({
        issuer: ISSUER,
        ...(address === undefined ? {} : { jwks_uri: address }),
      });
      expect(await verifier.verify(forge(KEY))).toEqual(UNREACHABLE);
      expect(issuers.asked).toEqual([]);
      expect(failures).toEqual([expect.objectContaining({ code: 'SP_IDP_PROTOCOL' })]);
    },
  );
});
