import { type HeaderPair, selectEndToEndHeaders } from '@sallyport/protocol';
import { anyText } from '@sallyport/testing/arbitraries/any-text';
import { ADA, ADA_SIGNS_IN } from '@sallyport/testing/server/people';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepareIdentity } from '../verdict/identity.ts';
import type { Admitted, RefusalReason, Refused, Undecided, Verdict } from '../verdict/verdict.ts';
import type { Denial } from './answer.ts';
import type { CallerKind } from './caller.ts';
import { type Caller, loginUrl, shapeAnswer } from './shape-answer.ts';

const PUBLIC = 'https://flow.example';
const RUNS = process.env['CI'] === undefined ? 1_000 : 10_000;
const KINDS: readonly CallerKind[] = [
  'navigation',
  'program',
  'grpc',
  'grpc-web',
  'connect',
  'subrequest',
];

/** Written as a record, so that a new reason does not compile until it stands here. */
const STATUS_OF_REASON: Readonly<Record<RefusalReason, 401 | 403>> = {
  no_credential: 401,
  session_unknown: 401,
  session_expired: 401,
  signed_out: 401,
  session_replaced: 401,
  session_revoked: 401,
  renewal_refused: 401,
  renewal_lost: 401,
  ambiguous_credentials: 401,
  bearer_not_accepted: 401,
  insufficient_scope: 403,
  cross_site: 403,
  not_allowed: 403,
};
const REASONS = Object.keys(STATUS_OF_REASON) as RefusalReason[];
const REFUSALS: readonly Refused[] = REASONS.flatMap((reason): Refused[] => [
  { outcome: 'refused', reason },
  { outcome: 'refused', reason, user: ADA },
]);
const UNDECIDED: Undecided = {
  outcome: 'undecided',
  reason: 'store_unavailable',
  retryAfterSeconds: 7,
};
const ISSUER_DOWN: Undecided = { ...UNDECIDED, reason: 'issuer_unavailable' };
const RENEWAL_DOWN: Undecided = { ...UNDECIDED, reason: 'renewal_unavailable' };
const EVERY_DENIAL = KINDS.flatMap((kind) =>
  [...REFUSALS, UNDECIDED, ISSUER_DOWN, RENEWAL_DOWN].map(
    (verdict): [CallerKind, string, Refused | Undecided] => [kind, verdict.reason, verdict],
  ),
);

function createAdmitted(setCookie?: string): Admitted {
  const { principal, claims } = ADA_SIGNS_IN;
  const identity = prepareIdentity({ principal, user: ADA, claims }, ['groups']);
  if (identity === 'claims_overflow') throw new Error(identity);
  return { outcome: 'admitted', identity, session: undefined, setCookie, renewal: undefined };
}

function callerOf(kind: CallerKind, more: Partial<Caller> = {}): Caller {
  return { kind, accept: undefined, target: '/console?x=1', requestId: 'request-0001', ...more };
}

function deny(verdict: Refused | Undecided, caller: Caller): Denial {
  const answer = shapeAnswer(verdict, caller, PUBLIC);
  if (answer.outcome !== 'denied') throw new Error('admitted');
  return answer;
}

function headerOf({ headers }: Pick<Denial, 'headers'>, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1];
}

describe('an admission', () => {
  it.each(KINDS)(
    'is 200 for an admitted caller of every kind, with identity headers, record and cookie (%s)',
    (kind) => {
      const admitted = createAdmitted('name=value');
      expect(shapeAnswer(admitted, callerOf(kind), PUBLIC)).toEqual({
        outcome: 'admitted',
        identityHeaders: selectEndToEndHeaders(admitted.identity.headers),
        setCookie: 'name=value',
        body: admitted.identity.body.camelCase,
      });
    },
  );

  it.each([
    ['application/json', 'snakeCase'],
    [undefined, 'camelCase'],
    ['*/*', 'camelCase'],
    ['application/json, text/plain, */*', 'camelCase'],
    ['Application/JSON', 'camelCase'],
    ['application/json;q=1', 'camelCase'],
  ] as const)('has the record for Accept: %s in %s', (accept, spelling) => {
    const admitted = createAdmitted();
    const answer = shapeAnswer(admitted, callerOf('program', { accept }), PUBLIC);
    expect(answer.body).toBe(admitted.identity.body[spelling]);
  });
});

describe('every other verdict', () => {
  it.each(EVERY_DENIAL)('denies to %s: %s', (kind, _reason, verdict) => {
    expect(shapeAnswer(verdict, callerOf(kind), PUBLIC).outcome).toBe('denied');
  });

  it('denies, whatever caller and verdict are: only "admitted" admits', () => {
    const verdict = fc.oneof(
      fc.constantFrom<Verdict>(...REFUSALS, UNDECIDED),
      fc.record({
        outcome: fc.constantFrom('refused', 'undecided'),
        reason: fc.constantFrom(...REASONS, 'store_unavailable'),
        retryAfterSeconds: fc.nat(),
        identity: fc.anything(),
        session: fc.anything(),
      }) as fc.Arbitrary<Verdict>,
    );
    const caller = fc.record({
      kind: fc.constantFrom(...KINDS),
      accept: fc.option(fc.string(), { nil: undefined }),
      target: anyText(),
      requestId: fc.string(),
    });
    fc.assert(
      fc.property(verdict, caller, (any, who) => {
        expect(shapeAnswer(any, who, PUBLIC).outcome).toBe('denied');
      }),
      { numRuns: RUNS },
    );
  });

  it.each(['program', 'connect', 'subrequest'] as const)(
    'is a document that no browser takes for another type (%s)',
    (kind) => {
      const denial = deny({ outcome: 'refused', reason: 'no_credential' }, callerOf(kind));
      expect(headerOf(denial, 'x-content-type-options')).toBe('nosniff');
      expect(headerOf(denial, 'content-type')).toMatch(/^application\/(?:problem\+)?json$/);
    },
  );

  it.each(EVERY_DENIAL)(
    'is kept out of every cache, no header twice, to %s: %s',
    (kind, _reason, verdict) => {
      const { headers } = deny(verdict, callerOf(kind));
      const names = headers.map(([name]) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toBe(name.toLowerCase());
      expect(headers).toContainEqual(['x-accel-expires', '0'] satisfies HeaderPair);
      expect(headers).toContainEqual(['cache-control', 'no-store'] satisfies HeaderPair);
      expect(names).not.toContain('set-cookie');
      for (const [, value] of headers) expect(value).toMatch(/^[\x20-\x7e]*$/);
    },
  );

  it.each(EVERY_DENIAL)(
    'says nothing of an identity in its headers, to %s: %s',
    (kind, _reason, verdict) => {
      const { headers } = deny(verdict, callerOf(kind));
      expect(headers.filter(([name]) => name.startsWith('x-user-'))).toEqual([]);
      expect(JSON.stringify(headers)).not.toContain(ADA.email);
    },
  );
});

describe('to a navigation', () => {
  it.each(['no_credential', 'session_unknown', 'session_expired'] as const)(
    'Ingress rule 3: %s is 302 to /login with the original target escaped',
    (reason) => {
      const denial = deny({ outcome: 'refused', reason }, callerOf('navigation'));
      expect(denial.status).toBe(302);
      expect(headerOf(denial, 'location')).toBe(
        'https://flow.example/login?redirect_url=%2Fconsole%3Fx%3D1',
      );
      expect(denial.body).toBe('');
    },
  );

  it.each<readonly [Refused | Undecided, number]>([
    [{ outcome: 'refused', reason: 'bearer_not_accepted' }, 401],
    [{ outcome: 'refused', reason: 'ambiguous_credentials' }, 401],
    [{ outcome: 'refused', reason: 'insufficient_scope' }, 403],
    [ISSUER_DOWN, 503],
  ])(
    'that shows a bearer, %o is %d and no redirect, which would loop: signing in does not take the bearer away',
    (verdict, status) => {
      const denial = deny(verdict, callerOf('navigation'));
      expect(denial.status).toBe(status);
      expect(headerOf(denial, 'location')).toBeUndefined();
      expect(headerOf(denial, 'content-type')).toBe('application/problem+json');
    },
  );

  it.each([
    '/',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '/a\r\nSet-Cookie: x=1',
    '/\u0000',
    '/é?ü=😀#x',
    '/?redirect_url=/b&c=d',
    '/%0d%0a',
    '/"<script>',
    '\ud800',
    '',
  ])('puts %j into one parameter and nowhere else', (target) => {
    const location =
      headerOf(deny(REFUSALS[0] as Refused, callerOf('navigation', { target })), 'location') ?? '';
    expect(location).toBe(
      `${PUBLIC}/login?redirect_url=${encodeURIComponent(target.toWellFormed())}`,
    );
    const url = new URL(location);
    expect([url.origin, url.pathname, url.hash]).toEqual([PUBLIC, '/login', '']);
    expect([...url.searchParams]).toEqual([['redirect_url', target.toWellFormed()]]);
  });

  it('gives a Location of our own origin for any target', () => {
    fc.assert(
      fc.property(anyText(), (target) => {
        const location = loginUrl(PUBLIC, target);
        expect(location).toMatch(/^https:\/\/flow\.example\/login\?redirect_url=[\x21-\x7e]*$/);
        expect([...new URL(location).searchParams]).toEqual([
          ['redirect_url', target.toWellFormed()],
        ]);
      }),
      { numRuns: RUNS },
    );
  });

  it.each(['not_allowed', 'cross_site'] as const)(
    '%s is a page that names the account, and no redirect, which would loop',
    (reason) => {
      const denial = deny({ outcome: 'refused', reason, user: ADA }, callerOf('navigation'));
      expect(denial.status).toBe(403);
      expect(headerOf(denial, 'location')).toBeUndefined();
      expect(headerOf(denial, 'content-type')).toBe('text/html; charset=utf-8');
      expect(denial.body).toContain('ada@corp.example');
      expect(denial.body).toContain(reason);
      expect(denial.body).toContain('request-0001');
      expect(denial.body.includes('href="https://flow.example/logout"')).toBe(
        reason === 'not_allowed',
      );
    },
  );

  it('names the subject where no address is known, and escapes it', () => {
    const user = { ...ADA, email: '', subject: '<b>ada</b>' };
    const { body } = deny(
      { outcome: 'refused', reason: 'not_allowed', user },
      callerOf('navigation'),
    );
    expect(body).toContain('&lt;b&gt;ada&lt;/b&gt;');
    expect(body).not.toContain('<b>');
  });

  it('undecided is a page with 503 and Retry-After', () => {
    const denial = deny(UNDECIDED, callerOf('navigation'));
    expect(denial.status).toBe(503);
    expect(headerOf(denial, 'retry-after')).toBe('7');
    expect(denial.body).toContain('store_unavailable');
  });
});

function challenge(reason: RefusalReason): string | undefined {
  return headerOf(deny({ outcome: 'refused', reason }, callerOf('program')), 'www-authenticate');
}

describe('to a program', () => {
  it.each(REASONS)('%s is a problem document with its reason', (reason) => {
    const status = STATUS_OF_REASON[reason];
    const denial = deny({ outcome: 'refused', reason }, callerOf('program'));
    expect(denial.status).toBe(status);
    expect(headerOf(denial, 'content-type')).toBe('application/problem+json');
    expect(JSON.parse(denial.body)).toEqual({
      type: `urn:sallyport:problem:${reason}`,
      title: expect.any(String),
      status,
      reason,
      request_id: 'request-0001',
      ...(status === 401 ? { login_url: 'https://flow.example/login' } : {}),
    });
    expect(headerOf(denial, 'location')).toBeUndefined();
  });

  it('RFC 6750 3.1: challenges on 401, names the error when a bearer was shown, and is silent on any other 403 than a missing scope', () => {
    expect(challenge('no_credential')).toBe('Bearer realm="sallyport"');
    expect(challenge('bearer_not_accepted')).toBe(
      'Bearer realm="sallyport", error="invalid_token"',
    );
    expect(challenge('insufficient_scope')).toBe(
      'Bearer realm="sallyport", error="insufficient_scope"',
    );
    expect(challenge('not_allowed')).toBeUndefined();
    expect(challenge('cross_site')).toBeUndefined();
  });

  it('undecided is 503 with Retry-After and without a challenge', () => {
    const denial = deny(UNDECIDED, callerOf('program'));
    expect(denial.status).toBe(503);
    expect(headerOf(denial, 'retry-after')).toBe('7');
    expect(headerOf(denial, 'www-authenticate')).toBeUndefined();
    expect(JSON.parse(denial.body)).toMatchObject({ status: 503, reason: 'store_unavailable' });
  });
});

describe('to an ingress that asks', () => {
  it.each(EVERY_DENIAL.filter(([kind]) => kind === 'subrequest'))(
    'answers exactly 401, 403 or 503 (%s: %s)',
    (_kind, _reason, verdict) => {
      const expected = verdict.outcome === 'undecided' ? 503 : STATUS_OF_REASON[verdict.reason];
      expect(deny(verdict, callerOf('subrequest')).status).toBe(expected);
    },
  );

  it('spells the sign-in address on 401 alone, for a proxy that cannot escape', () => {
    const denial = deny(
      REFUSALS[0] as Refused,
      callerOf('subrequest', { target: '/a?b=c&d=//evil' }),
    );
    expect(headerOf(denial, 'location')).toBe(
      'https://flow.example/login?redirect_url=%2Fa%3Fb%3Dc%26d%3D%2F%2Fevil',
    );
    expect(
      headerOf(
        deny({ outcome: 'refused', reason: 'not_allowed' }, callerOf('subrequest')),
        'location',
      ),
    ).toBeUndefined();
    expect(headerOf(deny(UNDECIDED, callerOf('subrequest')), 'location')).toBeUndefined();
  });

  it('leaves out a target too long for a proxy’s buffer: headers stay below 3,500 bytes', () => {
    const sizeOf = (target: string) => {
      const { headers } = deny(REFUSALS[0] as Refused, callerOf('subrequest', { target }));
      return headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
    };
    const kept = `/${'a'.repeat(2_000)}`;
    expect(
      headerOf(deny(REFUSALS[0] as Refused, callerOf('subrequest', { target: kept })), 'location'),
    ).toContain('a'.repeat(2_000));
    for (const target of [
      `/${'a'.repeat(8_000)}`,
      `/${'é'.repeat(1_000)}`,
      `/${'/'.repeat(920)}`,
      `/${'a'.repeat(2_700)}`,
    ])
      expect(sizeOf(target)).toBeLessThan(3_200);
    const cut = deny(
      REFUSALS[0] as Refused,
      callerOf('subrequest', { target: `/${'a'.repeat(8_000)}` }),
    );
    expect(headerOf(cut, 'location')).toBe('https://flow.example/login');
  });
});

describe('to a Connect call', () => {
  it.each([
    [REFUSALS[0] as Refused, 401, 'unauthenticated'],
    [{ outcome: 'refused', reason: 'not_allowed' }, 403, 'permission_denied'],
    [{ outcome: 'refused', reason: 'insufficient_scope' }, 403, 'permission_denied'],
    [UNDECIDED, 503, 'unavailable'],
    [ISSUER_DOWN, 503, 'unavailable'],
  ] as readonly (readonly [Refused | Undecided, number, string])[])(
    '%j is %d %s',
    (verdict, status, code) => {
      const denial = deny(verdict, callerOf('connect'));
      expect(denial.status).toBe(status);
      expect(headerOf(denial, 'content-type')).toBe('application/json');
      expect(JSON.parse(denial.body)).toEqual({
        code,
        message: expect.stringContaining(verdict.reason),
      });
    },
  );
});

describe('to a gRPC call', () => {
  it.each([
    [REFUSALS[0] as Refused, '16'],
    [{ outcome: 'refused', reason: 'cross_site' }, '7'],
    [UNDECIDED, '14'],
  ] as readonly (readonly [Refused | Undecided, string])[])(
    '%j is HTTP 200 with grpc-status %s and no body',
    (verdict, status) => {
      const denial = deny(verdict, callerOf('grpc'));
      expect(denial.status).toBe(200);
      expect(headerOf(denial, 'content-type')).toBe('application/grpc');
      expect(headerOf(denial, 'grpc-status')).toBe(status);
      expect(decodeURIComponent(headerOf(denial, 'grpc-message') ?? '')).toContain(verdict.reason);
      expect(denial.body).toBe('');
    },
  );

  it('is never status 0, which is success', () => {
    for (const verdict of [...REFUSALS, UNDECIDED])
      expect(['7', '14', '16']).toContain(headerOf(deny(verdict, callerOf('grpc')), 'grpc-status'));
  });
});
