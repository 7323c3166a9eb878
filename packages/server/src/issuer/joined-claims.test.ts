import type { JsonValue } from '@sallyport/protocol';
import { ADA } from '@sallyport/testing/server/people';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUserRecord } from '../verdict/user-record.ts';
import { type ClaimAnswers, type Claims, claimsOfRecord, joinClaims } from './joined-claims.ts';

const RUNS = process.env['CI'] === undefined ? 300 : 3_000;

const CEO = 'ceo@corp.example';
const EVIL = 'x@evil.example';
const PHONE = '+44 20 7946 0000';

describe('claims of several answers', () => {
  it.each<[string, ClaimAnswers, Claims]>([
    ['nothing', {}, {}],
    ['one answer, as it stands', { idToken: { name: 'Ada' } }, { name: 'Ada' }],
    [
      'the id_token before UserInfo, each claim by itself',
      { idToken: { name: 'Ada', tid: 't' }, userInfo: { name: 'Root', groups: ['g'] } },
      { name: 'Ada', tid: 't', groups: ['g'] },
    ],
    [
      'both before what was known earlier',
      { idToken: { a: 1 }, userInfo: { b: 2 }, earlier: { a: 0, b: 0, c: 0 } },
      { a: 1, b: 2, c: 0 },
    ],
    ['a claim that is null, as null', { idToken: { a: null }, userInfo: { a: 1 } }, { a: null }],
  ])('are %s', (_, answers, joined) => {
    expect(joinClaims(answers)).toEqual(joined);
  });

  it('keep a member named __proto__ as a member', () => {
    const answer = JSON.parse('{"__proto__":{"email":"x@corp.example"}}') as Claims;
    const joined = joinClaims({ idToken: answer, userInfo: { name: 'Ada' } });
    expect(Object.keys(joined)).toEqual(['__proto__', 'name']);
    expect(Object.getPrototypeOf(joined)).toBe(Object.prototype);
    expect(joined['email']).toBeUndefined();
  });
});

describe('a claim and its qualifier', () => {
  const WITH = { email: EVIL, email_verified: true };

  it.each<[string, ClaimAnswers, Claims]>([
    [
      'the answer that has both, when the id_token has the claim alone',
      { idToken: { email: CEO }, userInfo: WITH },
      WITH,
    ],
    [
      'the answer that has both, when the id_token has the qualifier alone',
      { idToken: { email_verified: true }, userInfo: { ...WITH, email_verified: false } },
      { ...WITH, email_verified: false },
    ],
    [
      'the id_token, when both have both',
      { idToken: { email: CEO, email_verified: false }, userInfo: WITH },
      { email: CEO, email_verified: false },
    ],
    [
      'the answer with the claim, when the other one has the qualifier',
      { idToken: { email: CEO }, userInfo: { email_verified: true } },
      { email: CEO },
    ],
    [
      'the answer with the claim, the other way round',
      { idToken: { email_verified: true }, userInfo: { email: CEO } },
      { email: CEO },
    ],
    [
      'the id_token, when both have the claim alone',
      { idToken: { email: CEO }, userInfo: { email: EVIL } },
      { email: CEO },
    ],
    [
      'no answer of before, when a newer one has another value',
      { idToken: { email: CEO }, earlier: WITH },
      { email: CEO },
    ],
    [
      'no answer of before, when a newer one has the claim that was missing',
      { userInfo: { email: CEO }, earlier: { email_verified: true } },
      { email: CEO },
    ],
    [
      'no answer of before, when a newer one has the qualifier that was missing',
      { userInfo: { email_verified: true }, earlier: { email: CEO } },
      { email_verified: true },
    ],
    [
      'no answer of before, when a newer one takes the qualifier back',
      { userInfo: { email_verified: false }, earlier: WITH },
      { email_verified: false },
    ],
    [
      'the answer of before, when the newer ones have neither',
      { idToken: {}, earlier: WITH },
      WITH,
    ],
    [
      'the answer of before, when a newer one has the same claim and says nothing of it',
      { idToken: { email: EVIL }, earlier: WITH },
      WITH,
    ],
    [
      'the answer of before, when the newer ones have the same, in two parts',
      { idToken: { email: EVIL }, userInfo: { email_verified: true }, earlier: WITH },
      WITH,
    ],
    [
      'UserInfo for the telephone number',
      {
        idToken: { phone_number: PHONE },
        userInfo: { phone_number: '1', phone_number_verified: true },
      },
      { phone_number: '1', phone_number_verified: true },
    ],
    [
      'the id_token for any claim of that kind',
      { idToken: { badge: 7 }, userInfo: { badge_verified: true } },
      { badge: 7 },
    ],
    [
      'one answer for claims that stand elsewhere and where that is',
      {
        idToken: { _claim_names: { groups: 's' } },
        userInfo: { _claim_sources: { s: { endpoint: 'https://evil.example' } } },
      },
      { _claim_names: { groups: 's' } },
    ],
  ])('come from %s', (_, answers, joined) => {
    expect(joinClaims(answers)).toEqual(joined);
  });

  it('never come from two answers, whatever the answers hold', () => {
    const value: fc.Arbitrary<JsonValue> = fc.constantFrom(CEO, EVIL, true, false, null, 1);
    const answer = fc.dictionary(
      fc.constantFrom('email', 'email_verified', 'phone_number', 'phone_number_verified', 'x'),
      value,
    );
    fc.assert(
      fc.property(answer, answer, answer, (idToken, userInfo, earlier) => {
        const joined = joinClaims({ idToken, userInfo, earlier });
        for (const claim of ['email', 'phone_number']) {
          const pair = (from: Claims) => [from[claim], from[`${claim}_verified`]];
          expect([idToken, userInfo, earlier].map(pair)).toContainEqual(pair(joined));
        }
        // And nothing is lost that any answer has: of each group something is there.
        const groups = (from: Claims) =>
          Object.keys(from).map((name) => name.replace(/_verified$/, ''));
        const all = [idToken, userInfo, earlier].flatMap(groups);
        expect(new Set(groups(joined))).toEqual(new Set(all));
      }),
      { numRuns: RUNS },
    );
  });
});

describe('what an id_token says of itself and of the sign-in', () => {
  const SAYS = { iss: 'https://idp.example', sub: 'ada', auth_time: 1 };
  const LIES = { sub: 'ada', sid: 'of-another', acr: 'gold', amr: ['hwk'], auth_time: 9, exp: 9 };

  it('is not said by UserInfo', () => {
    expect(joinClaims({ idToken: SAYS, userInfo: { ...LIES, name: 'Ada' } })).toEqual({
      ...SAYS,
      name: 'Ada',
    });
  });

  it('is said by the earlier one where there is no new one, and UserInfo still says nothing of it', () => {
    expect(joinClaims({ userInfo: LIES, earlier: { ...SAYS, acr: 'silver' } })).toEqual({
      ...SAYS,
      acr: 'silver',
    });
    expect(joinClaims({ userInfo: LIES })).toEqual({});
  });

  it('is said by one id_token: the earlier one adds nothing to a new one', () => {
    expect(
      joinClaims({ idToken: SAYS, earlier: { acr: 'gold', sid: 'sid-1', name: 'A' } }),
    ).toEqual({
      ...SAYS,
      name: 'A',
    });
  });
});

describe('the claims of a user record', () => {
  it('make the same record again, but for the address, which counts with its qualifier alone', () => {
    const ada = { ...ADA, picture: 'https://x.example/a.png', additionalClaims: { team: 'a' } };
    const claims = claimsOfRecord(ada);
    expect(toUserRecord(claims, ['team'], true)).toEqual({ ...ada, email: '' });
    const qualified = { ...claims, email: ADA.email, email_verified: true };
    expect(toUserRecord(qualified, ['team'], false)).toEqual(ada);
  });

  it('leave out what is unknown, so that a newer answer is not asked to take it back', () => {
    expect(claimsOfRecord({ ...ADA, name: '', picture: '' })).toEqual({
      sub: ADA.subject,
      preferred_username: ADA.preferredUsername,
      given_name: ADA.givenName,
      family_name: ADA.familyName,
    });
  });
});
