import { setImmediate as settled } from 'node:timers/promises';
import { anyText } from '@sallyport/testing/arbitraries/any-text';
import { COOKIE, createCheckUnderTest, PUBLIC, toRequest } from '@sallyport/testing/server/check';
import {
  ADA,
  ADA_SIGNS_IN,
  LIFETIMES,
  OPEN_RULES,
  TOKENS,
  UNASKED_LIFETIMES,
} from '@sallyport/testing/server/people';
import { DOWN } from '@sallyport/testing/server/watched-store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSessionId } from '../session/session-id.ts';

const RUNS = process.env['CI'] === undefined ? 400 : 4_000;

describe('a session', () => {
  it('is admitted with its identity, session and no cookie to set', async () => {
    const { ask, signIn, clock } = createCheckUnderTest();
    const { id, cookie } = await signIn();
    expect(await ask(cookie)).toMatchObject({
      outcome: 'admitted',
      identity: { principal: ADA_SIGNS_IN.principal, user: ADA },
      session: {
        id,
        createdAt: clock.now(),
        endsAt: clock.now() + LIFETIMES.idleTimeoutMs,
        absoluteEnd: clock.now() + LIFETIMES.absoluteMs,
      },
      setCookie: undefined,
      renewal: undefined,
    });
  });

  it.each([
    ['is none', undefined, 'no_credential'],
    ['has an empty value', '', 'session_unknown'],
    ['was made up', `AAAAAAAB.${'A'.repeat(43)}`, 'session_unknown'],
    ['is no session’s spelling', 'x', 'session_unknown'],
  ])('is refused when the cookie %s', async (_, cookie, reason) => {
    const { ask, outages } = createCheckUnderTest();
    expect(await ask(cookie)).toEqual({ outcome: 'refused', reason });
    expect(outages).toEqual([]);
  });

  it('is refused with one character of its cookie changed', async () => {
    const { ask, signIn } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    for (let at = 0; at < cookie.length; at += 1) {
      const other = cookie[at] === 'A' ? 'B' : 'A';
      const changed = cookie.slice(0, at) + other + cookie.slice(at + 1);
      expect(await ask(changed), `at ${at}`).toEqual({
        outcome: 'refused',
        reason: 'session_unknown',
      });
    }
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
  });

  it('is found behind planted cookies of the same name: as many as a browser keeps, whether they could be a session or not', async () => {
    const { ask, signIn, check } = createCheckUnderTest();
    const { cookie } = await signIn();
    const possible = (_: unknown, index: number) => `${formatSessionId(index)}.${'A'.repeat(43)}`;
    const behind = (count: number, plant: (_: unknown, index: number) => string) =>
      [...Array.from({ length: count }, plant), cookie]
        .map((value) => `${COOKIE}=${value}`)
        .join('; ');
    for (const plant of [possible, () => possible(undefined, 1), () => 'x']) {
      for (const count of [15, 16, 180, 255]) {
        expect(await check(toRequest({ cookie: behind(count, plant) }))).toMatchObject({
          outcome: 'admitted',
        });
      }
    }
    // No browser keeps so many.
    expect(await check(toRequest({ cookie: behind(256, possible) }))).toEqual({
      outcome: 'refused',
      reason: 'session_unknown',
    });
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
  });

  it('is refused as expired when its time is over, remembered or not', async () => {
    const { ask, signIn, clock } = createCheckUnderTest();
    const remembered = await signIn({ tokens: { ...TOKENS, refreshToken: undefined } });
    const unseen = await signIn({ tokens: { ...TOKENS, refreshToken: undefined } });
    await ask(remembered.cookie);
    clock.advance(LIFETIMES.withoutRefreshTokenIdleMs);
    expect(await ask(remembered.cookie)).toEqual({ outcome: 'refused', reason: 'session_expired' });
    expect(await ask(unseen.cookie)).toEqual({ outcome: 'refused', reason: 'session_expired' });
  });
});

describe('the access rules', () => {
  it('stand for every session and name the account that is refused', async () => {
    const { ask, signIn, rules } = createCheckUnderTest();
    const { cookie } = await signIn();
    rules.current = { ...OPEN_RULES, groups: ['admins'] };
    expect(await ask(cookie)).toEqual({ outcome: 'refused', reason: 'not_allowed', user: ADA });
    rules.current = { ...OPEN_RULES, groups: ['engineers'] };
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
  });

  it('end a remembered verdict when they change', async () => {
    const { ask, signIn, rules, generation } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    rules.current = { ...OPEN_RULES, emailDomains: ['other.example'] };
    generation.bump();
    expect(await ask(cookie)).toMatchObject({ outcome: 'refused', reason: 'not_allowed' });
  });

  it('are not the only ones: claims that do not fit the headers are refused, not cut', async () => {
    const { ask, signIn } = createCheckUnderTest({ claimHeaders: ['groups'] });
    const user = { ...ADA, additionalClaims: { groups: 'g'.repeat(4_000) } };
    const { cookie } = await signIn({ user });
    expect(await ask(cookie)).toEqual({ outcome: 'refused', reason: 'not_allowed', user });
    const fits = await signIn({ user: { ...ADA, additionalClaims: { groups: 'g' } } });
    expect(await ask(fits.cookie)).toMatchObject({ outcome: 'admitted' });
  });

  it('show a refused account rather than "unknown" when an unknown cookie stands beside it', async () => {
    const { check, signIn, rules } = createCheckUnderTest();
    const { cookie } = await signIn();
    rules.current = { ...OPEN_RULES, groups: ['admins'] };
    const both = `${COOKIE}=${cookie}; ${COOKIE}=x`;
    expect(await check(toRequest({ cookie: both }))).toMatchObject({ reason: 'not_allowed' });
  });
});

describe('a write of another site', () => {
  const FOREIGN = { origin: 'https://evil.example' };

  it('is refused with a person’s session, remembered or not, and names the account', async () => {
    const { check, signIn } = createCheckUnderTest();
    const { cookie } = await signIn();
    const headers = { cookie: `${COOKIE}=${cookie}` };
    const foreign = toRequest({ ...headers, ...FOREIGN }, { method: 'POST' });
    const refused = { outcome: 'refused', reason: 'cross_site', user: ADA };
    expect(await check(foreign)).toEqual(refused);
    expect(await check(foreign)).toEqual(refused);
    expect(
      await check(toRequest({ ...headers, origin: PUBLIC }, { method: 'POST' })),
    ).toMatchObject({ outcome: 'admitted' });
    expect(await check(toRequest({ ...headers, ...FOREIGN }))).toMatchObject({
      outcome: 'admitted',
    });
  });

  it('is not refused with a bearer, which no page has', async () => {
    const { ask, signIn } = createCheckUnderTest();
    const { cookie } = await signIn();
    const session = await ask(cookie);
    if (session.outcome !== 'admitted') throw new Error(session.reason);
    const { check } = createCheckUnderTest({
      bearer: { recall: () => undefined, decide: async () => ({ ...session, session: undefined }) },
    });
    const request = toRequest({ authorization: 'Bearer x', ...FOREIGN }, { method: 'POST' });
    expect(await check(request)).toMatchObject({ outcome: 'admitted' });
  });
});

describe('noting a use', () => {
  it('happens once a minute, and only then is the cookie slid', async () => {
    const { ask, signIn, clock, store } = createCheckUnderTest();
    const { id, cookie } = await signIn();
    const cookiesSet: number[] = [];
    for (let second = 0; second < 180; second += 1) {
      const verdict = await ask(cookie);
      if (verdict.outcome === 'admitted' && verdict.setCookie !== undefined)
        cookiesSet.push(second);
      clock.advance(1_000);
    }
    const start = clock.now() - 180_000;
    expect(cookiesSet).toEqual([60, 120]);
    expect(store.touches).toEqual([
      [id, start + 60_000],
      [id, start + 120_000],
    ]);
  });

  it('slides the same value with the whole idle time, and moves the end', async () => {
    const { ask, signIn, clock } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    clock.advance(60_000);
    expect(await ask(cookie)).toMatchObject({
      setCookie: `${COOKIE}=${cookie}; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax`,
      session: { endsAt: clock.now() + LIFETIMES.idleTimeoutMs },
    });
    expect(await ask(cookie)).toMatchObject({
      setCookie: undefined,
      renewal: undefined,
      session: { endsAt: clock.now() + LIFETIMES.idleTimeoutMs },
    });
  });

  it('never gives a cookie more time than is left to the absolute end', async () => {
    const { ask, signIn, clock, sessions } = createCheckUnderTest({ lifetimes: UNASKED_LIFETIMES });
    const { id, cookie } = await signIn({ accessTokenLifeMs: undefined });
    clock.advance(LIFETIMES.absoluteMs - 3_600_000);
    await sessions.noteUse(id, clock.now() - 60_000);
    expect(await ask(cookie)).toMatchObject({
      setCookie: expect.stringContaining('; Max-Age=3600;'),
    });
  });

  it('is seen by other processes, so that a session in use does not end there', async () => {
    const { ask, signIn, clock, elsewhere } = createCheckUnderTest();
    const { id, cookie } = await signIn();
    await ask(cookie);
    clock.advance(60_000);
    await ask(cookie);
    // The request does not wait for the note.
    const noted = async () => (await elsewhere.read(id))?.lastUsedAt;
    await expect.poll(noted, { interval: 5 }).toBe(clock.now());
  });

  it('admits all the same when the use cannot be noted, and reports it', async () => {
    const { ask, signIn, clock, store, outages } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    clock.advance(60_000);
    store.touch = async () => Promise.reject(DOWN);
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    await settled();
    expect(outages).toEqual([DOWN]);
  });
});

describe('a bearer', () => {
  const BEARER = { authorization: 'Bearer token' };

  it('is refused where none is accepted, and the session beside it does not help', async () => {
    const { check, ask, signIn, store } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    const refused = { outcome: 'refused', reason: 'bearer_not_accepted' };
    expect(await check(toRequest(BEARER))).toEqual(refused);
    const before = store.reads;
    expect(await check(toRequest({ ...BEARER, cookie: `${COOKIE}=${cookie}` }))).toEqual(refused);
    expect(store.reads).toBe(before);
  });

  it('is what its verifier says, asked with the token alone', async () => {
    const tokens: string[] = [];
    const { check } = createCheckUnderTest({
      bearer: {
        recall: () => undefined,
        decide: async (token) => {
          tokens.push(token);
          return { outcome: 'refused', reason: 'bearer_not_accepted' };
        },
      },
    });
    expect(await check(toRequest(BEARER))).toMatchObject({ outcome: 'refused' });
    expect(tokens).toEqual(['token']);
  });

  it.each([
    ['rejects', async () => Promise.reject(new Error('IdP down'))],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
  ] as const)('is undecided when its verifier %s', async (_, decide) => {
    const bearer = { recall: () => undefined, decide };
    const { check, outages } = createCheckUnderTest({ bearer });
    expect(await check(toRequest(BEARER))).toEqual({
      outcome: 'undecided',
      reason: 'issuer_unavailable',
      retryAfterSeconds: 1,
    });
    expect(outages).toHaveLength(1);
  });

  it('that is ambiguous is refused before anything is asked', async () => {
    const { check } = createCheckUnderTest({
      bearer: {
        recall: () => undefined,
        decide: async () => Promise.reject(new Error('asked')),
      },
    });
    const headers = { authorization: 'Bearer a', 'core-authorization': 'Bearer b' };
    expect(check(toRequest(headers))).toEqual({
      outcome: 'refused',
      reason: 'ambiguous_credentials',
    });
  });
});

describe('any request whatever', () => {
  it('is refused or undecided without a credential of ours: never admitted, never thrown', async () => {
    const { check, signIn, ask } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    const piece = fc.oneof(
      fc.constantFrom(
        COOKIE,
        `${COOKIE}=`,
        '=',
        ';',
        '; ',
        '"',
        '.',
        'core_session=',
        'Bearer ',
        'Basic ',
        '\u0000',
        '\u00a0',
      ),
      fc.constantFrom(
        cookie.slice(0, 8),
        cookie.slice(0, 9),
        cookie.slice(1),
        cookie.slice(0, -1),
        cookie.slice(9),
        cookie.toLowerCase(),
      ),
      fc.stringMatching(/^[\w-]{8}\.[\w-]{43}$/).map((value) => `${COOKIE}=${value}`),
      fc.stringMatching(/^[\w-]{43}$/).map((secret) => `${COOKIE}=${cookie.slice(0, 9)}${secret}`),
      fc.constant('x'.repeat(16_000)),
      anyText(10),
    );
    const value = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    const name = fc.constantFrom(
      'cookie',
      'authorization',
      'core-authorization',
      'origin',
      'upgrade',
      'sec-fetch-site',
      'x-user-subject',
      '__proto__',
    );
    const headers = fc.array(fc.tuple(name, value), { maxLength: 5 });
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', '', '\u0000');
    await fc.assert(
      fc.asyncProperty(
        headers,
        method,
        fc.constantFrom('http', 'grpc'),
        async (pairs, verb, transport) => {
          fc.pre(!pairs.some(([, text]) => text.includes(cookie)));
          const verdict = await check({
            method: verb,
            headers: Object.fromEntries(pairs),
            rawHeaders: pairs.flat(),
            transport,
          });
          expect(['refused', 'undecided']).toContain(verdict.outcome);
        },
      ),
      { numRuns: RUNS },
    );
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
  });
});
