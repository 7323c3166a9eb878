import type { JsonValue, Principal } from '@sallyport/protocol';
import { anyText } from '@sallyport/testing/arbitraries/any-text';
import { OPEN_RULES } from '@sallyport/testing/server/people';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AccessRules, findAccessRefusal, selectAccessClaims, selectEmail } from './access.ts';

const ADA: Principal = { issuer: 'https://idp.example', subject: 'ada', kind: 'user' };
const ROBOT: Principal = { issuer: 'https://idp.example', subject: 'robot', kind: 'app' };

type Claims = Readonly<Record<string, JsonValue>>;

function refusal(rules: Partial<AccessRules>, claims: Claims, principal: Principal = ADA) {
  return findAccessRefusal(principal, claims, { ...OPEN_RULES, ...rules });
}

describe('without rules', () => {
  it('every person whom the IdP authenticates may enter', () => {
    expect(refusal({}, {})).toBeUndefined();
    expect(refusal({}, {}, ROBOT)).toBeUndefined();
  });
});

function verified(email: JsonValue): Claims {
  return { email, email_verified: true };
}

describe('e-mail domains', () => {
  const rules = { emailDomains: ['corp.example', 'kelvin.example'] };

  it.each([
    'ada@corp.example',
    'ADA@Corp.Example',
    'ada+x@corp.example',
    'a.b-c_d@corp.example',
    'ada@kelvin.example',
  ])('admits %s', (email) => {
    expect(refusal(rules, verified(email))).toBeUndefined();
  });

  it.each([
    'ada@evil.example',
    'a@evil@corp.example',
    'a@corp.example@evil.example',
    '"a@corp.example"@evil.example',
    'ada@sub.corp.example',
    'ada@xcorp.example',
    'ada@corp.example.',
    'ada@corp.example.evil.example',
    'ada@corp.example ',
    ' ada@corp.example',
    'ada@ corp.example',
    'ada@corp.example\n',
    'ada@corp.example\u0000',
    'ada@evil.example,ada@corp.example',
    'Ada <ada@corp.example>',
    '@corp.example',
    'corp.example',
    'ada',
    '',
    'adä@corp.example',
    'ada＠corp.example',
    'ada@ｃorp.example',
    'ada@\u212aelvin.example',
    '\u212a@kelvin.example',
  ])('CVE-2026-40574: refuses %j', (email) => {
    expect(refusal(rules, verified(email))).toBe('email_domain');
  });

  it.each([
    ['not verified', { email: 'ada@corp.example', email_verified: false }],
    ['of unknown verification', { email: 'ada@corp.example' }],
    ['verified by a text', { email: 'ada@corp.example', email_verified: 'true' }],
    ['verified by a number', { email: 'ada@corp.example', email_verified: 1 }],
    ['a list', { email: ['ada@corp.example'], email_verified: true }],
    ['an object', { email: { value: 'ada@corp.example' }, email_verified: true }],
    ['null', { email: null, email_verified: true }],
    ['missing', { email_verified: true }],
  ] as readonly (readonly [string, Claims])[])('refuses an address that is %s', (_, claims) => {
    expect(refusal(rules, claims)).toBe('email_domain');
  });

  it('believes an unverified address of an issuer that is known to check, and nothing odder', () => {
    const trusting = { ...rules, emailTrusted: true };
    expect(refusal(trusting, { email: 'ada@corp.example' })).toBeUndefined();
    expect(refusal(trusting, { email: 'a@evil@corp.example' })).toBe('email_domain');
    expect(refusal(trusting, { email: ['ada@corp.example'] })).toBe('email_domain');
  });

  it('never admits an address whose text after the last @ is no allowed domain', () => {
    const email = fc
      .array(
        fc.oneof(fc.constantFrom('@', 'corp.example', '.', 'a', ' ', '"', '\u212a'), anyText(2)),
      )
      .map((all) => all.join(''));
    fc.assert(
      fc.property(email, (address) => {
        if (refusal(rules, verified(address)) !== undefined) return;
        expect(address.split('@')).toHaveLength(2);
        expect(rules.emailDomains).toContain(address.slice(address.indexOf('@') + 1).toLowerCase());
      }),
      { numRuns: 1_000 },
    );
  });
});

describe.each([
  ['groups', { groups: ['engineers', 'admins'] }, 'groups', 'group'],
  ['tenants', { tenants: ['engineers', 'admins'] }, 'tid', 'tenant'],
] as const)('%s', (_, rules, claim, reason) => {
  it.each([
    ['a text', 'engineers'],
    ['a list', ['others', 'admins']],
    ['a list with odd values beside it', [1, null, { x: 1 }, 'admins']],
  ] as readonly (readonly [string, JsonValue])[])('admits one of them as %s', (_shape, value) => {
    expect(refusal(rules, { [claim]: value })).toBeUndefined();
  });

  it.each([
    ['another', 'others'],
    ['several in one text', 'engineers,admins'],
    ['several in one text', 'engineers admins'],
    ['another case', 'Engineers'],
    ['a longer name', 'engineers-guests'],
    ['a name within', 'engine'],
    ['an empty list', []],
    ['an empty text', ''],
    ['a list in a list', [['engineers']]],
    ['an object', { engineers: true }],
    ['a true', true],
    ['null', null],
    ['missing', undefined],
  ] as readonly (readonly [string, JsonValue | undefined])[])('refuses %s: %j', (_shape, value) => {
    expect(refusal(rules, value === undefined ? {} : { [claim]: value })).toBe(reason);
  });

  it('looks at the configured claim and no other', () => {
    const named = { ...rules, tenantClaim: 'organisation', groupsClaim: 'organisation' };
    expect(refusal(named, { organisation: 'engineers' })).toBeUndefined();
    expect(refusal(named, { [claim]: 'engineers' })).toBe(reason);
  });
});

describe('applications', () => {
  it('enter by client id where ids are listed, and only then', () => {
    expect(refusal({ clientIds: ['robot'] }, {}, ROBOT)).toBeUndefined();
    expect(refusal({ clientIds: ['other'] }, {}, ROBOT)).toBe('client_id');
    expect(refusal({ clientIds: ['Robot'] }, {}, ROBOT)).toBe('client_id');
  });

  it('must be of an allowed tenant, whether named or not', () => {
    expect(refusal({ tenants: ['t'] }, {}, ROBOT)).toBe('tenant');
    expect(refusal({ tenants: ['t'] }, { tid: 't' }, ROBOT)).toBeUndefined();
    expect(refusal({ tenants: ['t'], clientIds: ['robot'] }, {}, ROBOT)).toBe('tenant');
    expect(refusal({ tenants: ['t'], clientIds: ['robot'] }, { tid: 't' }, ROBOT)).toBeUndefined();
  });

  it.each([
    { groups: ['g'] },
    { emailDomains: ['corp.example'] },
    { groups: ['g'], emailDomains: ['corp.example'] },
  ])('enter only when they are named where a rule asks for what people have: %j', (rules) => {
    const claims = { groups: ['g'], email: 'robot@corp.example', email_verified: true };
    expect(refusal(rules, claims, ROBOT)).toBe('client_id');
    expect(refusal({ ...rules, clientIds: ['other'] }, claims, ROBOT)).toBe('client_id');
    expect(refusal({ ...rules, clientIds: ['robot'] }, {}, ROBOT)).toBeUndefined();
  });

  it('are named by the client id of their token, which need not be its subject', () => {
    const byClient = (clientId: string) =>
      findAccessRefusal(ROBOT, {}, { ...OPEN_RULES, clientIds: ['client'] }, clientId);
    expect(byClient('client')).toBeUndefined();
    expect(byClient('robot')).toBe('client_id');
  });

  it('are distinguished from people: a list of client ids does not concern a person', () => {
    expect(refusal({ clientIds: ['robot'] }, {}, ADA)).toBeUndefined();
  });
});

describe('several rules', () => {
  it('must all be met', () => {
    const rules = { tenants: ['t'], groups: ['g'], emailDomains: ['corp.example'] };
    const claims: Claims = {
      tid: 't',
      groups: ['g'],
      email: 'ada@corp.example',
      email_verified: true,
    };
    expect(refusal(rules, claims)).toBeUndefined();
    expect(refusal(rules, { ...claims, tid: 'other' })).toBe('tenant');
    expect(refusal(rules, { ...claims, groups: [] })).toBe('group');
    expect(refusal(rules, { ...claims, email_verified: false })).toBe('email_domain');
  });
});

describe('selectEmail', () => {
  it('gives a verified or trusted address, else nothing', () => {
    expect(selectEmail({ email: 'ada@corp.example', email_verified: true }, false)).toBe(
      'ada@corp.example',
    );
    expect(selectEmail({ email: 'ada@corp.example' }, true)).toBe('ada@corp.example');
    expect(selectEmail({ email: 'ada@corp.example', email_verified: false }, false)).toBe('');
    expect(selectEmail({ email: 7 }, true)).toBe('');
  });
});

describe('selectAccessClaims', () => {
  it('keeps what the rules look at, so that a kept session is judged as the sign-in was, and nothing else', () => {
    const claims: Claims = {
      tid: 't',
      groups: ['g'],
      email: 'ada@corp.example',
      email_verified: true,
      phone: '1',
      nonce: 'n',
    };
    const rules = { ...OPEN_RULES, tenants: ['t'], groups: ['g'], emailDomains: ['corp.example'] };
    const kept = selectAccessClaims(claims, rules);
    expect(kept).toEqual({
      tid: 't',
      groups: ['g'],
      email: 'ada@corp.example',
      email_verified: true,
    });
    expect(findAccessRefusal(ADA, kept, rules)).toBeUndefined();
    expect(selectAccessClaims({}, rules)).toEqual({});
  });
});
