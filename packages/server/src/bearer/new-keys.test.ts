import { createSigningKey, forgeToken, HONEST_CLAIMS, ISSUER } from '@sallyport/testing/idp/forge';
import { createBearerUnderTest } from '@sallyport/testing/server/bearer';
import { describe, expect, it } from 'vitest';

const KEY = createSigningKey('RS256', 'rsa');
const EC_KEY = createSigningKey('ES256', 'ec');
const FOREIGN = createSigningKey('RS256', 'rsa');
const PUBLISHED = [KEY.jwk, EC_KEY.jwk];
const DAY_SECONDS = 86_400;
const NOT_ACCEPTED = {
  outcome: 'refused',
  reason: 'bearer_not_accepted',
  token: expect.anything(),
};

type Claims = Readonly<Record<string, unknown>>;
const honest = (claims: Claims = {}, header: Claims = {}) =>
  forgeToken(KEY, { ...HONEST_CLAIMS, ...claims }, header);
const setup = () => createBearerUnderTest(PUBLISHED);

describe('the last good keys of an issuer that is gone', () => {
  it('count for a day, and after it nothing can be decided', async () => {
    const { ask, issuers, timers } = await setup();
    issuers.isDown = true;
    const lasting = honest({ exp: Number(HONEST_CLAIMS['exp']) + 2 * DAY_SECONDS });
    await timers.advance((DAY_SECONDS - 60) * 1_000);
    expect(await ask(lasting)).toMatchObject({ outcome: 'admitted' });
    await timers.advance(120_000);
    expect(await ask(lasting)).toMatchObject({ outcome: 'undecided' });
  });
});

describe('tokens with made-up key ids', () => {
  const made = (number: number, at: number) => honest({}, { kid: `unknown-${number}-${at}` });

  it.each([
    ['up', false],
    ['down', true],
  ])(
    'cause five fetches a minute at most while the issuer is %s, and none is refused that was not decided',
    async (_, isDown) => {
      const { ask, issuers, timers, clock } = await setup();
      issuers.isDown = isDown;
      issuers.asked.length = 0;
      for (let second = 0; second < 60; second += 1) {
        const before = issuers.keyRequests;
        const flood = Array.from({ length: 20 }, (_, number) => made(number, clock.now()));
        const verdicts = await Promise.all(flood.map(ask));
        const refused = verdicts.filter(({ outcome }) => outcome === 'refused');
        expect(verdicts.filter(({ outcome }) => outcome === 'admitted')).toEqual([]);
        expect(refused.length).toBeLessThanOrEqual(isDown ? 0 : issuers.keyRequests - before);
        await timers.advance(1_000);
      }
      expect(issuers.keyRequests).toBeGreaterThan(1);
      expect(issuers.keyRequests).toBeLessThanOrEqual(5);
    },
  );

  it('leave a token of a key that has just appeared open, for as long as Retry-After says', async () => {
    const { ask, issuers, timers, clock } = await setup();
    expect(await ask(made(1, 0))).toEqual(NOT_ACCEPTED);
    const fresh = createSigningKey('RS256', 'fresh');
    issuers.keys.set(ISSUER, [...PUBLISHED, fresh.jwk]);
    const token = forgeToken(fresh, HONEST_CLAIMS);
    for (const expected of [1, 5, 15]) {
      const verdict = await ask(made(expected, clock.now()));
      expect(verdict).toEqual({
        outcome: 'undecided',
        reason: 'issuer_unavailable',
        retryAfterSeconds: expected,
      });
      issuers.keys.set(ISSUER, PUBLISHED);
      await timers.advance(expected * 1_000);
      expect(await ask(made(expected, clock.now()))).toEqual(NOT_ACCEPTED);
    }
    issuers.keys.set(ISSUER, [...PUBLISHED, fresh.jwk]);
    expect(await ask(token)).toMatchObject({ outcome: 'undecided', retryAfterSeconds: 15 });
    await timers.advance(15_000);
    expect(await ask(token)).toMatchObject({ outcome: 'admitted' });
  });

  it('do not keep a token of a new key waiting that comes a second later', async () => {
    const { ask, issuers, timers } = await setup();
    expect(await ask(made(1, 0))).toEqual(NOT_ACCEPTED);
    const fresh = createSigningKey('RS256', 'fresh');
    issuers.keys.set(ISSUER, [...PUBLISHED, fresh.jwk]);
    const token = forgeToken(fresh, HONEST_CLAIMS);
    expect(await ask(token)).toMatchObject({ outcome: 'undecided', retryAfterSeconds: 1 });
    await timers.advance(1_000);
    expect(await ask(token)).toMatchObject({ outcome: 'admitted' });
  });

  it('five keys taken into use within a minute are each admitted at once', async () => {
    const { ask, issuers, timers } = await setup();
    for (let rotation = 0; rotation < 5; rotation += 1) {
      const fresh = createSigningKey('ES256', `fresh-${rotation}`);
      issuers.keys.set(ISSUER, [fresh.jwk]);
      expect(await ask(forgeToken(fresh, HONEST_CLAIMS))).toMatchObject({ outcome: 'admitted' });
      await timers.advance(1_000);
    }
  });

  it('of an id that is known are refused, and cost no fetch', async () => {
    const { ask, issuers } = await setup();
    issuers.asked.length = 0;
    for (let turn = 0; turn < 20; turn += 1)
      expect(await ask(forgeToken(FOREIGN, HONEST_CLAIMS, { jti: turn }))).toEqual(NOT_ACCEPTED);
    expect(issuers.asked).toEqual([]);
  });

  it('that came while the keys were being fetched are not decided by that fetch', async () => {
    const { ask, issuers } = await setup();
    const [own, joined] = await Promise.all([ask(made(1, 0)), ask(made(2, 0))]);
    expect(own).toEqual(NOT_ACCEPTED);
    expect(joined).toMatchObject({ outcome: 'undecided', retryAfterSeconds: 1 });
    expect(issuers.keyRequests).toBe(2);
  });
});

describe('an issuer that moves its keys to another address', () => {
  it('is asked for its metadata once more when the old one answers 404', async () => {
    const { ask, issuers } = await setup();
    const fresh = createSigningKey('RS256', 'fresh');
    issuers.answers.set(`${ISSUER}/jwks`, () => new Response('', { status: 404 }));
    issuers.answers.set(`${ISSUER}/.well-known/openid-configuration`, () =>
      Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/moved` }),
    );
    issuers.answers.set(`${ISSUER}/moved`, () => Response.json({ keys: [fresh.jwk] }));
    expect(await ask(forgeToken(fresh, HONEST_CLAIMS))).toMatchObject({ outcome: 'admitted' });
  });
});
