import type { JsonValue } from '@sallyport/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAudiences, readClientId, readScopes, readTime } from './claim-readers.ts';

const NAMES = ['scope', 'scp'];
const scopes = (claims: Readonly<Record<string, JsonValue>>) => [...readScopes(claims, NAMES)];

describe('scopes', () => {
  it.each([
    ['a text', { scope: 'openid all' }, ['openid', 'all']],
    ['a text under scp', { scp: 'all' }, ['all']],
    ['a list', { scope: ['openid', 'all'] }, ['openid', 'all']],
    ['a list under scp', { scp: ['all'] }, ['all']],
    ['a list of several in one text', { scp: ['openid all'] }, ['openid', 'all']],
    ['both claims', { scope: 'a', scp: ['b'] }, ['a', 'b']],
    ['more blanks than needed', { scope: ' a  b ' }, ['a', 'b']],
  ] as const)('are read from %s', (_, claims, expected) => {
    expect(scopes(claims)).toEqual(expected);
  });

  it.each([
    ['nothing', {}],
    ['an empty text', { scope: '' }],
    ['a number', { scope: 7 }],
    ['null', { scope: null }],
    ['an object', { scope: { all: true } }],
    ['a list with something else in it', { scope: ['all', 7] }],
    ['a list in a list', { scope: [['all']] }],
    ['another claim', { scopes: 'all' }],
    ['the prototype', JSON.parse('{"__proto__":{"scope":"all"}}') as Record<string, JsonValue>],
  ])('are none in %s', (_, claims) => {
    expect(scopes(claims)).toEqual([]);
  });

  it.each(['all,offline', 'ALL', 'all\toffline', 'all\u00a0offline', '"all"', 'allx'])(
    'RFC 6749 section 3.3: %j does not hold the scope all',
    (scope) => {
      expect(scopes({ scope })).not.toContain('all');
    },
  );

  it('are the words of the text, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const scope of readScopes({ scope: value as JsonValue }, NAMES)) {
          expect(scope).not.toBe('');
          expect(scope).not.toContain(' ');
          expect(JSON.stringify(value)).toContain(JSON.stringify(scope).slice(1, -1));
        }
      }),
    );
  });
});

describe('audiences', () => {
  it.each([
    ['a', ['a']],
    [['a'], ['a']],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  ])('%j is read as %j', (claim, expected) => {
    expect(readAudiences(claim)).toEqual(expected);
  });

  it.each([undefined, null, 7, true, {}, [], ['a', 7], [['a']], [null]])(
    '%j is none, not even in part',
    (claim) => {
      expect(readAudiences(claim)).toBeUndefined();
    },
  );

  it('are texts, whatever the claim', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const audiences = readAudiences(value as JsonValue);
        if (audiences === undefined) return;
        expect(audiences.length).toBeGreaterThan(0);
        expect(audiences).toEqual(Array.isArray(value) ? value : [value]);
      }),
    );
  });
});

describe('the client id', () => {
  const names = ['client_id', 'azp'];

  it('is that of the first claim that has one', () => {
    expect(readClientId({ azp: 'b', client_id: 'a' }, names)).toBe('a');
    expect(readClientId({ azp: 'b' }, names)).toBe('b');
    expect(readClientId({ azp: 'b', client_id: '' }, names)).toBe('b');
    expect(readClientId({ azp: 'b', client_id: 7 }, names)).toBe('b');
  });

  it('is unknown without one', () => {
    expect(readClientId({ cid: 'a' }, names)).toBeUndefined();
    expect(readClientId({ client_id: ['a'] }, names)).toBeUndefined();
  });
});

describe('a time', () => {
  it.each([0, 1, 1_767_614_400, 2_147_483_648, 253_402_300_799])('%d is one', (claim) => {
    expect(readTime(claim)).toBe(claim);
  });

  it.each([
    -1,
    1.5,
    253_402_300_800,
    1e300,
    Number.POSITIVE_INFINITY,
    Number.NaN,
    '1767614400',
    null,
    true,
    [1],
    undefined,
  ])('%s is none', (claim) => {
    expect(readTime(claim as JsonValue)).toBeUndefined();
  });
});
