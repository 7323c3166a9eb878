import {
  type JsonValue,
  type Principal,
  selectEndToEndHeaders,
  type UserRecord,
} from '@sallyport/protocol';
import { anyText } from '@sallyport/testing/arbitraries/any-text';
import { ADA } from '@sallyport/testing/server/people';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimHeaderName, prepareIdentity } from './identity.ts';
import type { Identity } from './verdict.ts';

const RUNS = process.env['CI'] === undefined ? 500 : 5_000;
const PRINCIPAL: Principal = {
  issuer: 'https://idp.example',
  subject: 'ada-subject',
  kind: 'user',
};

function prepare(
  user: Partial<UserRecord>,
  claimHeaders: readonly string[] = [],
  principal: Principal = PRINCIPAL,
): Identity | 'claims_overflow' {
  return prepareIdentity({ principal, user: { ...ADA, ...user }, claims: {} }, claimHeaders);
}

function headersOf(identity: Identity | 'claims_overflow'): Record<string, string> {
  if (identity === 'claims_overflow') throw new Error('claims_overflow');
  return Object.fromEntries(selectEndToEndHeaders(identity.headers));
}

describe('identity headers', () => {
  it('name who it is', () => {
    expect(headersOf(prepare({}))).toEqual({
      'x-user-subject': 'ada-subject',
      'x-user-issuer': 'https://idp.example',
      'x-user-identity-type': 'user',
      'x-user-email': 'ada@corp.example',
      'x-user-name': 'Ada Lovelace',
    });
    const robot: Principal = { ...PRINCIPAL, subject: 'robot', kind: 'app' };
    expect(headersOf(prepare({}, [], robot))).toMatchObject({
      'x-user-subject': 'robot',
      'x-user-identity-type': 'app',
    });
  });

  it('distinguish subjects that differ in blanks at their ends', () => {
    const sent = ['ada', ' ada', 'ada ', '  ada'].map(
      (subject) => headersOf(prepare({}, [], { ...PRINCIPAL, subject }))['x-user-subject'],
    );
    expect(sent).toEqual(['ada', '%20ada', 'ada%20', '%20%20ada']);
  });

  it('and the record have the subject behind the prefix of its issuer; the principal has it as it is', () => {
    const identity = prepareIdentity({ principal: PRINCIPAL, user: ADA, claims: {} }, [], 'idp:');
    expect(headersOf(identity)).toMatchObject({ 'x-user-subject': 'idp:ada-subject' });
    expect(identity).toMatchObject({
      principal: PRINCIPAL,
      user: { subject: 'idp:ada-subject' },
    });
    if (identity === 'claims_overflow') throw new Error(identity);
    for (const body of [identity.body.camelCase, identity.body.snakeCase])
      expect(JSON.parse(body)).toMatchObject({ subject: 'idp:ada-subject' });
  });

  it('are all there when nothing is known, empty, so that a client’s own copy never survives', () => {
    const identity = prepare({ email: '', name: '' }, ['tenant_id', 'groups']);
    expect(headersOf(identity)).toMatchObject({
      'x-user-email': '',
      'x-user-name': '',
      'x-user-claim-tenant-id': '',
      'x-user-claim-groups': '',
    });
  });

  it('carry configured claims: a text as it is, anything else as JSON', () => {
    const additionalClaims: Record<string, JsonValue> = {
      text: 'plain',
      list: ['a', 'b'],
      number: 7,
      flag: false,
      nothing: null,
      deep: { a: [1, { b: 'ü' }] },
      not_configured: 'x',
    };
    const claims = ['text', 'list', 'number', 'flag', 'nothing', 'deep'];
    const headers = headersOf(prepare({ additionalClaims }, claims));
    expect(headers).toMatchObject({
      'x-user-claim-text': 'plain',
      'x-user-claim-list': '["a","b"]',
      'x-user-claim-number': '7',
      'x-user-claim-flag': 'false',
      'x-user-claim-nothing': '',
      'x-user-claim-deep': '{"a":[1,{"b":"%C3%BC"}]}',
    });
    expect(Object.keys(headers)).toHaveLength(5 + claims.length);
  });

  it.each([
    ['Ada\r\nX-User-Subject: root', 'Ada%0D%0AX-User-Subject: root', 'CWE-113'],
    ['Ada\nSet-Cookie: x=1', 'Ada%0ASet-Cookie: x=1', 'CWE-113'],
    ['Ada\u0000', 'Ada%00', 'NUL'],
    ['Ada\u007f', 'Ada%7F', 'DEL'],
    ['Ada\tLovelace', 'Ada%09Lovelace', 'tab'],
    ['Adä', 'Ad%C3%A4', 'latin1, which arrives as something else'],
    ['Łucja', '%C5%81ucja', 'not latin1'],
    ['🚀', '%F0%9F%9A%80', 'beyond the first plane'],
    ['a\u2028b', 'a%E2%80%A8b', 'a line separator'],
    ['100%', '100%25', 'the escape itself'],
    ['%0d%0a', '%250d%250a', 'the escape itself'],
    ['\ud800x', '%EF%BF%BDx', 'a lone surrogate'],
    [
      '!"#$&\'()*+,-./:;<=>?@[\\]^_`{|}~ aZ9',
      '!"#$&\'()*+,-./:;<=>?@[\\]^_`{|}~ aZ9',
      'printable ASCII',
    ],
  ])('encode %j as %j (%s)', (name, value) => {
    expect(headersOf(prepare({ name }))['x-user-name']).toBe(value);
  });

  it('can neither be split nor garbled, whatever the claims are, and decode to what they were', () => {
    const text = fc.oneof(anyText(40), fc.string({ unit: 'grapheme', maxLength: 20 }));
    fc.assert(
      fc.property(text, text, text, (subject, name, claim) => {
        const principal = { ...PRINCIPAL, subject };
        const headers = headersOf(
          prepare({ name, additionalClaims: { claim } }, ['claim'], principal),
        );
        for (const value of Object.values(headers))
          expect(value).toMatch(/^(?! )[\x20-\x7e]*(?<! )$/);
        const decoded = (header: string) => decodeURIComponent(headers[header] ?? 'missing');
        expect(decoded('x-user-name')).toBe(name.toWellFormed());
        expect(decoded('x-user-claim-claim')).toBe(claim.toWellFormed());
      }),
      { numRuns: RUNS },
    );
  });

  it('have names that travel end to end', () => {
    const identity = prepare({}, ['connection', 'te']);
    if (identity === 'claims_overflow') throw new Error(identity);
    expect(selectEndToEndHeaders(identity.headers).flat()).toEqual(identity.headers);
  });
});

describe('the header of a claim', () => {
  it.each([
    ['tenant_id', 'x-user-claim-tenant-id'],
    ['Groups', 'x-user-claim-groups'],
    ['https://corp.example/roles', 'x-user-claim-https---corp-example-roles'],
    ['a\r\nb', 'x-user-claim-a--b'],
    ['ü', 'x-user-claim--'],
  ])('%j travels as %s', (claim, header) => {
    expect(claimHeaderName(claim)).toBe(header);
  });
});

/** A user whose groups are a text of this length. */
function groups(length: number): Partial<UserRecord> {
  return { additionalClaims: { groups: 'g'.repeat(length) } };
}

describe('claims that do not fit', () => {
  it('are refused as a whole and never cut, from the first byte too many on', () => {
    let length = 1;
    while (prepare(groups(length + 1), ['groups']) !== 'claims_overflow') length += 1;
    expect(headersOf(prepare(groups(length), ['groups']))['x-user-claim-groups']).toHaveLength(
      length,
    );
    expect(prepare(groups(length + 1), ['groups'])).toBe('claims_overflow');
    expect(length).toBeGreaterThan(2_000);
    expect(length).toBeLessThan(2_900);
  });

  it('are counted as they travel: what grows by encoding is refused at a third of the length', () => {
    expect(prepare({ additionalClaims: { groups: 'g'.repeat(1_500) } }, ['groups'])).not.toBe(
      'claims_overflow',
    );
    expect(prepare({ additionalClaims: { groups: '\n'.repeat(1_500) } }, ['groups'])).toBe(
      'claims_overflow',
    );
  });

  it('do not matter where they are not sent', () => {
    expect(prepare(groups(100_000))).not.toBe('claims_overflow');
  });

  it.each(['name', 'email'] as const)('may be the %s as well', (field) => {
    expect(prepare({ [field]: 'x'.repeat(3_000) })).toBe('claims_overflow');
  });

  it('leave all headers of every identity that is accepted below 2,900 bytes', () => {
    const text = anyText(1_200);
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 3 }), (name, email, groups) => {
        const identity = prepare({ name, email, additionalClaims: { groups } }, ['groups']);
        if (identity === 'claims_overflow') return;
        const lines = selectEndToEndHeaders(identity.headers).map(
          ([header, value]) => `${header}: ${value}\r\n`,
        );
        expect(Buffer.byteLength(lines.join(''))).toBeLessThanOrEqual(2_900);
      }),
      { numRuns: RUNS / 5 },
    );
  });
});

describe('the user record', () => {
  it('has every field of UserInfoResponse in two spellings, claims under their own names', () => {
    const identity = prepare({ additionalClaims: { tenant_id: 't' } });
    if (identity === 'claims_overflow') throw new Error(identity);
    expect(JSON.parse(identity.body.camelCase)).toEqual({
      subject: 'ada-subject',
      name: 'Ada Lovelace',
      preferredUsername: 'ada',
      givenName: 'Ada',
      familyName: 'Lovelace',
      email: 'ada@corp.example',
      picture: '',
      additionalClaims: { tenant_id: 't' },
    });
    expect(JSON.parse(identity.body.snakeCase)).toEqual({
      subject: 'ada-subject',
      name: 'Ada Lovelace',
      preferred_username: 'ada',
      given_name: 'Ada',
      family_name: 'Lovelace',
      email: 'ada@corp.example',
      picture: '',
      additional_claims: { tenant_id: 't' },
    });
  });
});
