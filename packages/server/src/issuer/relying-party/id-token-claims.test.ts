import { describe, expect, it } from 'vitest';
import { findIdTokenProblem } from './id-token-claims.ts';

const NOW = 1_767_614_400;
const GOOD = { iss: 'https://idp.example', sub: 'ada', aud: 'web', iat: NOW - 10, exp: NOW + 300 };

function problem(changes: Readonly<Record<string, unknown>>): string | undefined {
  const claims = Object.fromEntries(
    Object.entries({ ...GOOD, ...changes }).filter(([, value]) => value !== undefined),
  );
  return findIdTokenProblem(claims, 'web', NOW);
}

describe('findIdTokenProblem', () => {
  it.each([
    ['nothing odd', {}],
    ['a subject of 255 characters', { sub: 'x'.repeat(255) }],
    ['a subject of any printable ASCII', { sub: 'auth0|1 2%3/~' }],
    ['our own azp', { azp: 'web' }],
    ['our own azp for several audiences', { aud: ['web', 'other'], azp: 'web' }],
    ['an audience list of one without azp', { aud: ['web'] }],
    ['an exp within the tolerance', { exp: NOW - 29 }],
    ['a float exp, which RFC 7519 section 2 allows', { exp: NOW + 0.5 }],
    ['an iat within the tolerance', { iat: NOW + 30 }],
    ['an old iat', { iat: 0 }],
    ['a float iat', { iat: NOW - 0.25 }],
  ])('passes %s', (_, changes) => {
    expect(problem(changes)).toBeUndefined();
  });

  it.each([
    ['sub', 'no subject', { sub: undefined }],
    ['sub', 'an empty subject', { sub: '' }],
    ['sub', 'a subject of 256 characters', { sub: 'x'.repeat(256) }],
    ['sub', 'a subject that is not ASCII', { sub: 'adä' }],
    ['sub', 'a subject with a line break', { sub: 'ada\n' }],
    ['sub', 'a subject with NUL', { sub: 'ada\u0000' }],
    ['sub', 'a subject with DEL', { sub: 'ada\u007f' }],
    ['sub', 'a number for a subject', { sub: 7 }],
    ['sub', 'a list for a subject', { sub: ['ada'] }],
    ['azp', 'a foreign azp', { azp: 'other' }],
    ['azp', 'an empty azp', { azp: '' }],
    ['azp', 'a null azp', { azp: null }],
    ['azp', 'an azp list', { azp: ['web'] }],
    ['azp', 'a foreign azp for several audiences', { aud: ['web', 'other'], azp: 'other' }],
    ['azp', 'several audiences without azp', { aud: ['web', 'other'] }],
    ['exp', 'no exp', { exp: undefined }],
    ['exp', 'an exp that is over', { exp: NOW - 30 }],
    ['exp', 'an exp in a text', { exp: String(NOW + 300) }],
    ['exp', 'an exp of 1e300', { exp: 1e300 }],
    ['exp', 'an infinite exp', { exp: Number.POSITIVE_INFINITY }],
    ['exp', 'an exp that is no number', { exp: Number.NaN }],
    ['exp', 'a negative exp', { exp: -1 }],
    ['exp', 'an exp in milliseconds', { exp: (NOW + 300) * 1_000 }],
    ['exp', 'a null exp', { exp: null }],
    ['iat', 'no iat', { iat: undefined }],
    ['iat', 'an iat in the future', { iat: NOW + 31 }],
    ['iat', 'an iat in a text', { iat: String(NOW) }],
    ['iat', 'a negative iat', { iat: -1 }],
    ['iat', 'an iat of 1e300', { iat: 1e300 }],
  ])('OIDC Core 3.1.3.7: finds %s: %s', (check, _, changes) => {
    expect(problem(changes)).toBe(check);
  });
});
