import {
  createSigningKey,
  ISSUER,
  IssuersInMemory,
  WEB_CLIENT,
} from '@sallyport/testing/idp/forge';
import { BEARER_SETTINGS } from '@sallyport/testing/server/bearer';
import { OPEN_RULES } from '@sallyport/testing/server/people';
import { Clock } from '@sallyport/testing/time/clock';
import { ClockTimers, settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBearerVerifier } from '../bearer/bearer-verifier.ts';
import { Generation } from '../verdict/generation.ts';
import { createIssuers, type Issuers } from './issuers.ts';
import type { IssuerDocument } from './metadata/authorization-server-document.ts';
import { createMetadataSource } from './metadata/authorization-server-metadata.ts';
import { createRelyingParty } from './relying-party/openid-client-relying-party.ts';

const KEY = createSigningKey('ES256', 'ec');
const METADATA_URL = `${ISSUER}/.well-known/openid-configuration`;
const GOOD = {
  issuer: ISSUER,
  jwks_uri: `${ISSUER}/jwks`,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
};

/** An issuer in memory, and one use of its metadata that needs a token endpoint. */
function setup(document: Readonly<Record<string, unknown>> = GOOD) {
  const clock = new Clock();
  const timers = new ClockTimers(clock);
  const idp = new IssuersInMemory({ [ISSUER]: [KEY.jwk] });
  const says = (members: Readonly<Record<string, unknown>>) =>
    idp.answers.set(METADATA_URL, () => Response.json(members));
  says(document);
  const issuers = createIssuers({
    fetch: idp.fetch,
    now: clock.now,
    schedule: timers.schedule,
    random: () => 0,
  });
  onTestFinished(() => issuers.close());
  const failures: string[] = [];
  const seen: IssuerDocument[] = [];
  const follow = () =>
    issuers.of(ISSUER).metadata.follow({
      needs: ['token_endpoint'],
      onDocument: (given) => seen.push(given),
      onFailure: (cause) => failures.push(String((cause as { detail?: unknown }).detail ?? cause)),
    });
  return { clock, timers, idp, says, issuers, failures, seen, follow };
}

/** Everything of the service that asks an issuer, as it is put together at start. */
function startAllUses(
  idp: IssuersInMemory,
  issuers: Issuers,
  clock: Clock,
  timers: ClockTimers,
  isShared = true,
): void {
  const ports = { fetch: idp.fetch, now: clock.now, schedule: timers.schedule };
  const relyingParty = createRelyingParty({
    ...ports,
    ...(isShared ? { issuers } : {}),
    issuer: ISSUER,
    clientId: WEB_CLIENT,
    credential: { method: 'client_secret', secret: () => 's3cret' },
    pushedAuthorization: 'auto',
    scopes: ['openid'],
    publicOrigin: 'https://flow.example',
    patientFetch: idp.fetch,
    onFailure: () => {},
    onReady: () => {},
  });
  const bearer = createBearerVerifier({
    ...ports,
    settings: BEARER_SETTINGS,
    issuers,
    access: () => OPEN_RULES,
    claimHeaders: [],
    generation: new Generation(),
    onKeysLoaded: () => {},
    onFailure: () => {},
  });
  const metadata = createMetadataSource({
    issuers,
    now: clock.now,
    log: () => {},
    folder: undefined,
  });
  metadata.of(ISSUER);
  metadata.of(ISSUER, '');
  onTestFinished(() => {
    bearer.close();
    relyingParty.close();
  });
}

describe('an issuer', () => {
  it('is asked once for its metadata and once for its keys, however many need them', async () => {
    const { issuers, idp, follow } = setup();
    const issuer = issuers.of(ISSUER);
    const [one, other] = [follow(), follow()];
    for (let use = 0; use < 3; use += 1) issuer.keys.follow({ onFailure: () => {} });
    await settled();
    expect(issuers.of(ISSUER)).toBe(issuer);
    expect([one.current, other.current]).toEqual([GOOD, GOOD]);
    expect(issuer.keys.select('ec', 'ES256')).toHaveLength(1);
    expect(idp.asked).toEqual([METADATA_URL, `${ISSUER}/jwks`]);
  });

  it('is asked once at start by sign-in, bearer tokens and the metadata service together', async () => {
    const { clock, timers, idp, issuers } = setup();
    startAllUses(idp, issuers, clock, timers);
    await settled();
    expect(idp.asked).toEqual([METADATA_URL, `${ISSUER}/jwks`]);
  });

  it('is asked twice where one of them does not share it', async () => {
    const { clock, timers, idp, issuers } = setup();
    startAllUses(idp, issuers, clock, timers, false);
    await settled();
    expect(idp.asked.toSorted()).toEqual(
      [METADATA_URL, METADATA_URL, `${ISSUER}/jwks`, `${ISSUER}/jwks`].toSorted(),
    );
  });

  it.each([METADATA_URL, METADATA_URL.replace('https:', 'HTTPS:')])(
    'is asked once where its usual address is configured as %s',
    async (url) => {
      const { issuers, idp } = setup();
      const uses = [issuers.of(ISSUER), issuers.of(ISSUER, url)];
      for (const { metadata } of uses) metadata.follow({ needs: [], onFailure: () => {} });
      await settled();
      expect(idp.asked).toEqual([METADATA_URL]);
    },
  );

  it('is another one under another name or address', () => {
    const { issuers } = setup();
    expect(issuers.of(`${ISSUER}/`)).not.toBe(issuers.of(ISSUER));
    expect(issuers.of(ISSUER, `${ISSUER}/meta`)).not.toBe(issuers.of(ISSUER));
  });

  it('is asked for nothing before something is needed', async () => {
    const { issuers, idp } = setup();
    issuers.of(ISSUER);
    await settled();
    expect(idp.asked).toEqual([]);
  });
});

describe('metadata that are bad', () => {
  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['with a slash more in the issuer', { ...GOOD, issuer: `${ISSUER}/` }],
    ['with keys in a file', { ...GOOD, jwks_uri: 'file:///etc/passwd' }],
    ['with a script as endpoint', { ...GOOD, end_session_endpoint: 'javascript:alert(1)' }],
    ['without a token endpoint', { ...GOOD, token_endpoint: undefined }],
  ])(
    '%s are not taken, asked for every few seconds, and taken at once when they are mended',
    async (_, bad) => {
      const { timers, idp, says, failures, follow } = setup(bad);
      const followed = follow();
      await settled();
      await timers.advance(60_000);
      expect(followed.current).toBeUndefined();
      expect(idp.asked.length).toBeGreaterThanOrEqual(12);
      expect(idp.asked.length).toBeLessThanOrEqual(20);
      expect(failures).toHaveLength(idp.asked.length);
      says(GOOD);
      await timers.advance(5_000);
      expect(followed.current).toEqual(GOOD);
      const asked = idp.asked.length;
      await timers.advance(300_000);
      expect(idp.asked).toHaveLength(asked);
    },
  );

  it('leave the last good ones in use, and the bad ones are reported to no use', async () => {
    const { timers, says, seen, follow } = setup();
    const followed = follow();
    await timers.advance(0);
    says({ ...GOOD, issuer: `${ISSUER}/` });
    await timers.advance(700_000);
    expect(followed.current).toEqual(GOOD);
    says({ ...GOOD, token_endpoint: `${ISSUER}/new` });
    await timers.advance(5_000);
    expect(followed.current?.token_endpoint).toBe(`${ISSUER}/new`);
    expect(seen.map((document) => document.token_endpoint)).toEqual([
      GOOD.token_endpoint,
      `${ISSUER}/new`,
    ]);
  });

  it('for one use are good for another that needs less', async () => {
    const { timers, issuers, failures, follow } = setup({
      issuer: ISSUER,
      jwks_uri: GOOD.jwks_uri,
    });
    const { keys } = issuers.of(ISSUER);
    keys.follow({ onFailure: () => {} });
    const followed = follow();
    await timers.advance(0);
    expect(keys.select('ec', 'ES256')).toHaveLength(1);
    expect(followed.current).toBeUndefined();
    expect(failures).toEqual([expect.stringContaining('names no token_endpoint')]);
  });
});

describe('keys', () => {
  it('are fetched from their new address as soon as the metadata name it', async () => {
    const { timers, idp, says, issuers } = setup();
    const { keys } = issuers.of(ISSUER);
    keys.follow({ onFailure: () => {} });
    await timers.advance(0);
    const moved = createSigningKey('ES256', 'moved');
    idp.answers.set(`${ISSUER}/moved`, () => Response.json({ keys: [moved.jwk] }));
    says({ ...GOOD, jwks_uri: `${ISSUER}/moved` });
    await issuers.of(ISSUER).metadata.reload();
    await timers.advance(0);
    expect(keys.select('moved', 'ES256')).toHaveLength(1);
    expect(keys.select('ec', 'ES256')).toEqual([]);
  });

  it('are asked for anew by a sign-in after half a minute, and not before', async () => {
    const { timers, idp, issuers } = setup();
    const { keys } = issuers.of(ISSUER);
    keys.follow({ onFailure: () => {} });
    await settled();
    await timers.advance(29_999);
    await keys.freshen();
    expect(idp.keyRequests).toBe(1);
    await timers.advance(1);
    await Promise.all([keys.freshen(), keys.freshen()]);
    expect(idp.keyRequests).toBe(2);
  });

  it('that are removed are reported to each use', async () => {
    const { timers, idp, issuers } = setup();
    const { keys } = issuers.of(ISSUER);
    const gone: string[] = [];
    for (const use of ['one', 'other'])
      keys.follow({ onFailure: () => {}, onKeyGone: () => gone.push(use) });
    await timers.advance(0);
    idp.keys.set(ISSUER, []);
    await timers.advance(600_000);
    expect(gone).toEqual(['one', 'other']);
  });
});
