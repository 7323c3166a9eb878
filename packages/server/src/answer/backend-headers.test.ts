import { type ForwardCredential, type HeaderPair, isRemovedHeader } from '@sallyport/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BackendHeaderPolicy, selectBackendHeaders } from './backend-headers.ts';

const RUNS = process.env['CI'] === undefined ? 1_000 : 10_000;
const POLICY: BackendHeaderPolicy = {
  bearerHeaders: new Set(['core-authorization', 'authorization']),
  stripHeaders: new Set(['x-internal-secret']),
  isSessionCookie: (name) => name === '__Host-core_session',
  isAttemptCookie: (name) => name.startsWith('__Host-core_login_'),
};
const IDENTITY: readonly HeaderPair[] = [
  ['x-user-subject', 'ada'],
  ['x-user-email', ''],
];
const COOKIES =
  'a=1; __Host-core_session=s; b=2; __Host-core_login_0=l; __Host-core_session=planted';
const FORWARDS: readonly ForwardCredential[] = ['none', 'bearer', 'session', 'all'];

function select(rawHeaders: readonly string[], forward: ForwardCredential = 'none'): HeaderPair[] {
  return selectBackendHeaders(rawHeaders, forward, IDENTITY, POLICY);
}

function valuesOf(headers: readonly HeaderPair[], wanted: string): string[] {
  return headers.filter(([name]) => name === wanted).map(([, value]) => value);
}

describe('what a backend receives', () => {
  it('is the rest in the caller’s order and repetition, identity headers last', () => {
    expect(select(['Accept', 'a', 'X-Two', '1', 'x-two', '2', 'Host', 'h'])).toEqual([
      ['accept', 'a'],
      ['x-two', '1'],
      ['x-two', '2'],
      ['host', 'h'],
      ...IDENTITY,
    ]);
  });

  it('has every identity header, empty ones included, also when the caller sends nothing', () => {
    expect(select([])).toEqual(IDENTITY);
  });

  it.each(FORWARDS)('never has a client’s own identity header, in any spelling (%s)', (forward) => {
    const names = [
      'x-user-subject',
      'X-User-Subject',
      'X_User_Subject',
      'x-user_email',
      'X-USER-NEW',
      'x_user_claim_groups',
      'X-Amzn-Oidc-Data',
      'x_amzn_oidc_identity',
    ];
    expect(
      select(
        names.flatMap((name) => [name, 'evil']),
        forward,
      ),
    ).toEqual(IDENTITY);
  });

  it('never has a header the operator strips, in any spelling, and keeps its neighbours', () => {
    expect(select(['X-Internal-Secret', '1', 'x_internal_secret', '2', 'x-internal', '3'])).toEqual(
      [['x-internal', '3'], ...IDENTITY],
    );
  });

  it('RFC 9110 7.6.1: has no hop-by-hop field and none that Connection names', () => {
    const raw = [
      'Connection',
      'keep-alive, X-Hop',
      'x-hop',
      '1',
      'Keep-Alive',
      '5',
      'TE',
      'trailers',
      'Upgrade',
      'h2c',
      'Transfer-Encoding',
      'chunked',
      'Proxy-Authorization',
      'Basic x',
      'x-kept',
      '2',
    ];
    expect(select(raw)).toEqual([['x-kept', '2'], ...IDENTITY]);
  });

  it('CVE-2024-45410: cannot be robbed of an identity header by naming it in Connection', () => {
    expect(
      select(['Connection', 'x-user-subject, x-user-email', 'X-User-Subject', 'evil']),
    ).toEqual(IDENTITY);
  });

  it('RFC 9113 8.3: has no pseudo-header', () => {
    expect(select([':method', 'GET', ':path', '/', ':authority', 'h', 'a', 'b'])).toEqual([
      ['a', 'b'],
      ...IDENTITY,
    ]);
  });
});

describe('credentials', () => {
  const raw = [
    'Authorization',
    'Bearer one',
    'Core-Authorization',
    'Bearer two',
    'Cookie',
    COOKIES,
  ];

  it.each([
    ['none', [], 'a=1; b=2'],
    ['bearer', ['Bearer one', 'Bearer two'], 'a=1; b=2'],
    ['session', [], 'a=1; __Host-core_session=s; b=2; __Host-core_session=planted'],
    ['all', ['Bearer one', 'Bearer two'], COOKIES],
  ] as const)(
    'with forwardCredential %s the backend sees the bearers %j and the cookies %s',
    (forward, bearers, cookies) => {
      const headers = select(raw, forward);
      expect([
        ...valuesOf(headers, 'authorization'),
        ...valuesOf(headers, 'core-authorization'),
      ]).toEqual(bearers);
      expect(valuesOf(headers, 'cookie')).toEqual([cookies]);
    },
  );

  it.each(FORWARDS)(
    'never has a bearer header spelt so that a backend could read it as one (%s)',
    (forward) => {
      expect(select(['Core_Authorization', 'Bearer x'], forward)).toEqual(IDENTITY);
    },
  );

  it('has no Cookie header where nothing but ours was in it', () => {
    expect(select(['Cookie', '__Host-core_session=s'])).toEqual(IDENTITY);
  });

  it('takes ours out of each of several Cookie headers', () => {
    const headers = select([
      'cookie',
      'a=1',
      'cookie',
      '__Host-core_session=s',
      'cookie',
      '__Host-core_login_3=x; b=2',
    ]);
    expect(valuesOf(headers, 'cookie')).toEqual(['a=1', 'b=2']);
  });

  it('have nothing to do with look-alikes', () => {
    const headers = select([
      'x-authorization',
      'x',
      'authorization-info',
      'y',
      'cookie',
      'core_session=1; x__Host-core_session=2',
    ]);
    expect(headers.slice(0, -2)).toEqual([
      ['x-authorization', 'x'],
      ['authorization-info', 'y'],
      ['cookie', 'core_session=1; x__Host-core_session=2'],
    ]);
  });

  it('and identity never pass without leave, whatever is sent', () => {
    const name = fc.oneof(
      fc.constantFrom(
        'Authorization',
        'core-authorization',
        'Core_Authorization',
        'cookie',
        'Cookie',
        'connection',
        'X_User-Subject',
        'x-user-name',
        ':path',
        'te',
      ),
      fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,10}$/),
    );
    const value = fc.oneof(
      fc.constantFrom(
        COOKIES,
        'canary',
        '__Host-core_session=canary',
        ';__Host-core_session = canary;',
        'cookie',
        'x-user-subject',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
        const headers = select(pairs.flat());
        expect(headers.slice(-IDENTITY.length)).toEqual(IDENTITY);
        for (const [kept, text] of headers.slice(0, -IDENTITY.length)) {
          expect(isRemovedHeader(kept) || kept.startsWith(':') || kept === 'te').toBe(false);
          expect(['authorization', 'core-authorization', 'core_authorization']).not.toContain(kept);
          if (kept === 'cookie')
            expect(text).not.toMatch(/(?:^|;)\s*__Host-core_(?:session|login_\d)\s*(?:=|;|$)/);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
