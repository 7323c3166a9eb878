import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAuthorizationAnswer } from './authorization-answer.ts';

const EXPECTED = { state: 'st4te', issuer: 'https://idp.example.com', isIssuerNamed: false };
const parse = (query: string, isIssuerNamed = false) =>
  parseAuthorizationAnswer(new URLSearchParams(query), { ...EXPECTED, isIssuerNamed });

describe('the answer of the authorization endpoint', () => {
  it.each([
    'state=st4te&code=c0de',
    'state=st4te&code=c0de&iss=https://idp.example.com',
    'state=st4te&code=c0de&session_state=x',
  ])('%s gives the code', (query) => {
    expect(parse(query)).toEqual({
      kind: 'answer',
      outcome: { ok: true, value: { code: 'c0de' } },
    });
  });

  it.each([
    'code=c0de',
    'state=&code=c0de',
    'state=other&code=c0de',
    'state=st4te2&code=c0de',
    'state=st4te&state=st4te&code=c0de',
    'state=st4te&state=other&code=c0de',
    'error=access_denied',
    'state=other&error=access_denied',
  ])('%s is another user’s, and changes nothing', (query) => {
    expect(parse(query)).toEqual({ kind: 'foreign' });
  });

  it.each([
    ['state=st4te', 'answer_malformed'],
    ['state=st4te&code=', 'answer_malformed'],
    ['state=st4te&code=a&code=a', 'answer_malformed'],
    ['state=st4te&code=a&iss=https://idp.example.com&iss=x', 'answer_malformed'],
    ['state=st4te&code=a&error=x&error=y', 'answer_malformed'],
    ['state=st4te&code=%00', 'answer_malformed'],
    ['state=st4te&code=a&iss=https://idp.example.com/', 'issuer_mismatch'],
    ['state=st4te&code=a&iss=', 'issuer_mismatch'],
    ['state=st4te&error=access_denied&iss=https://evil.example', 'issuer_mismatch'],
    ['state=st4te&error=access_denied', 'access_denied'],
    ['state=st4te&error=login_required&code=c0de', 'login_required'],
    ['state=st4te&error=%0Ax', 'unknown_error'],
  ])('%s is refused: %s', (query, error) => {
    expect(parse(query)).toMatchObject({
      kind: 'answer',
      outcome: { ok: false, error: { error } },
    });
  });

  describe('RFC 9207 section 2.4: of an identity provider that says its answers name it', () => {
    it('gives the code when it does', () => {
      expect(parse('state=st4te&code=c0de&iss=https://idp.example.com', true)).toEqual({
        kind: 'answer',
        outcome: { ok: true, value: { code: 'c0de' } },
      });
    });

    it.each([
      'state=st4te&code=c0de',
      'state=st4te&code=c0de&iss=',
      'state=st4te&code=c0de&iss=https://evil.example',
      'state=st4te&error=access_denied',
      'state=st4te',
    ])('%s is refused', (query) => {
      expect(parse(query, true)).toMatchObject({
        kind: 'answer',
        outcome: { ok: false, error: { error: 'issuer_mismatch' } },
      });
    });

    it('changes nothing when it is the answer to another attempt', () => {
      expect(parse('state=other&code=c0de', true)).toEqual({ kind: 'foreign' });
    });
  });

  it('with an error reports it with its words, made printable, and a hint', () => {
    const answer = parse('state=st4te&error=access_denied&error_description=No%0A%1b[31mway');
    expect(answer).toMatchObject({
      outcome: {
        error: {
          description: 'The identity provider answered access_denied: No [31mway',
          hint: expect.stringContaining('access policy'),
        },
      },
    });
  });

  it('never gives a code without the state that was sent', () => {
    const pair = fc.tuple(
      fc.constantFrom('state', 'code', 'iss', 'error'),
      fc.oneof(fc.string(), fc.constantFrom('st4te', 'c0de', 'https://idp.example.com')),
    );
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 6 }), (pairs) => {
        const query = new URLSearchParams(pairs.map(([name, value]) => [name, value]));
        const answer = parseAuthorizationAnswer(query, EXPECTED);
        const isOurs =
          query.getAll('state').join() === 'st4te' && query.getAll('state').length === 1;
        expect(answer.kind).toBe(isOurs ? 'answer' : 'foreign');
        if (answer.kind === 'answer' && answer.outcome.ok)
          expect(query.getAll('code')).toEqual([answer.outcome.value.code]);
      }),
    );
  });
});
