import {
  DEEP_LINKS,
  DOCS_ORIGIN,
  listRedirectAttacks,
  spellRedirectTarget,
} from '@sallyport/testing/wire/redirect-targets';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LandingPolicy,
  parseRedirectTarget,
  REDIRECT_TARGET_MAX_LENGTH,
  selectRedirectTarget,
} from './redirect-target.ts';

const RUNS = process.env['CI'] === undefined ? 2_000 : 20_000;

/** Text of any UTF-16 code units; the unit `binary` takes a second to set up. */
const anyText = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xffff })), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

const PUBLIC = 'https://good.example';
const ROOT = `${PUBLIC}/`;
const POLICY: LandingPolicy = {
  publicOrigin: PUBLIC,
  redirectOrigins: new Set([DOCS_ORIGIN]),
  landing: `${PUBLIC}/console`,
};

function refusalOf(target: string): string | undefined {
  const parsed = parseRedirectTarget(target, POLICY);
  return parsed.ok ? undefined : parsed.error;
}

describe('selectRedirectTarget', () => {
  describe.each(Object.entries(listRedirectAttacks(PUBLIC)))(
    'falls back to the public root: %s',
    (_, payloads) => {
      it.each(payloads.map((payload) => [JSON.stringify(payload).slice(0, 60), payload]))(
        '%s, plain and percent-encoded once and twice',
        (_shown, payload) => {
          for (const spelling of spellRedirectTarget(payload))
            expect(selectRedirectTarget(spelling, POLICY), spelling).toBe(ROOT);
        },
      );
    },
  );

  it.each(['/\ud800', '/a?\udc00', `${PUBLIC}/\ud800`])(
    'falls back to the public root for a lone surrogate (%#)',
    (target) => {
      expect(selectRedirectTarget(target, POLICY)).toBe(ROOT);
    },
  );

  it('goes to the landing page when no target is named, and to the root for an empty one', () => {
    expect(selectRedirectTarget(undefined, POLICY)).toBe(`${PUBLIC}/console`);
    expect(selectRedirectTarget('', POLICY)).toBe(ROOT);
  });

  it.each(DEEP_LINKS)(
    'keeps path, query and fragment of a deep link byte for byte: %s',
    (target) => {
      expect(selectRedirectTarget(target, POLICY)).toBe(PUBLIC + target);
      expect(selectRedirectTarget(PUBLIC + target, POLICY)).toBe(PUBLIC + target);
    },
  );

  it('keeps generated deep links byte for byte', () => {
    const segment = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
      // oxlint-disable-next-line no-control-regex -- what no deep link holds
      .filter((text) => text.isWellFormed() && !/[/\\%.\u0000-\u001f\u007f]/.test(text))
      .map(encodeURIComponent);
    const query = fc
      .array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })))
      .map((pairs) => new URLSearchParams(pairs).toString());
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), query, (segments, search) => {
        const target = `/app/${segments.join('/')}${search === '' ? '' : `?${search}`}`;
        expect(selectRedirectTarget(target, POLICY)).toBe(PUBLIC + target);
      }),
      { numRuns: RUNS / 5 },
    );
  });

  it('admits an origin of the allow-set, absolute only, and no other port, scheme or subdomain of it', () => {
    expect(selectRedirectTarget(`${DOCS_ORIGIN}/guide?x=1`, POLICY)).toBe(
      `${DOCS_ORIGIN}/guide?x=1`,
    );
    expect(selectRedirectTarget('HTTPS://DOCS.example:8443/x', POLICY)).toBe(`${DOCS_ORIGIN}/x`);
    expect(selectRedirectTarget('https://GOOD.example:443/x', POLICY)).toBe(`${PUBLIC}/x`);
    for (const other of [
      'https://docs.example/',
      'http://docs.example:8443/',
      'https://a.docs.example:8443/',
    ])
      expect(selectRedirectTarget(other, POLICY)).toBe(ROOT);
  });

  it('admits no host that begins like one of the allow-set', () => {
    const policy = { ...POLICY, redirectOrigins: new Set(['https://docs.example']) };
    expect(selectRedirectTarget('https://docs.example/x', policy)).toBe('https://docs.example/x');
    for (const other of ['https://docs.example.evil.example/x', 'https://docs.example:444/x'])
      expect(selectRedirectTarget(other, policy)).toBe(ROOT);
  });

  it('yields an allowed origin for any text whatever, and the same again when parsed again', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '/',
        '//',
        '\\',
        '.',
        '..',
        ':',
        '@',
        '?',
        '#',
        '%',
        '%2f',
        '%5c',
        '%00',
        '%25',
      ),
      fc.constantFrom(
        '%252f',
        '%2e%2e',
        '\t',
        '\n',
        '\u0000',
        '\ufeff',
        '\u202e',
        '。',
        '／',
        '＼',
      ),
      fc.constantFrom(
        'https:',
        'http://',
        'HTTPS://',
        'javascript:',
        PUBLIC,
        DOCS_ORIGIN,
        'good.example',
      ),
      fc.constantFrom('evil.example', 'login', 'auth/', 'account', '[::1]', '127.0.0.1', ':443'),
      anyText,
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join('')),
      fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('')}`),
      fc.array(piece, { maxLength: 8 }).map((pieces) => `${PUBLIC}${pieces.join('')}`),
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      anyText,
    );
    const allowed = new Set([PUBLIC, DOCS_ORIGIN]);
    fc.assert(
      fc.property(text, (target) => {
        const location = selectRedirectTarget(target, POLICY);
        const url = new URL(location);
        expect(allowed.has(url.origin)).toBe(true);
        expect(url.href).toBe(location);
        expect(location).toMatch(
          /^https:\/\/(?:good\.example|docs\.example:8443)\/(?![/\\])[\x21-\x7e]*$/,
        );
        expect(selectRedirectTarget(location, POLICY)).toBe(location);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('parseRedirectTarget', () => {
  it.each([
    ['/me', 'plain'],
    ['/me/', 'below'],
    ['/login?redirect_url=/x', 'with a query'],
    ['/callback#x', 'with a fragment'],
    ['/logout', 'plain'],
    ['/auth', 'the prefix itself'],
    ['/auth/', 'the prefix itself'],
    ['/auth/session', 'own path'],
    ['/auth/account/delete', 'below the account page'],
    ['/a/../login', 'dot segments'],
    ['/./me', 'dot segments'],
    ['/a/%2e%2e/login', 'escaped dot segments'],
    ['/%6cogin', 'escaped letter'],
    ['/%256cogin', 'letter escaped twice'],
    ['/a%2f..%2flogin', 'escaped path'],
    ['/auth%2faccount%2f..%2fsession', 'escaped path'],
    ['/%3f%2f..%2flogin', 'escaped path behind an escaped question mark'],
    ['/%23%2f..%2flogin', 'escaped path behind an escaped number sign'],
    [`${PUBLIC}/login`, 'absolute'],
  ])('refuses our own endpoint %s (%s)', (target) => {
    expect(refusalOf(target)).toBe('target_is_own_endpoint');
  });

  it.each([
    '/auth/account',
    '/auth/account?tab=sessions',
    '/login-help',
    '/men',
    '/authors',
    '/x?next=/login',
    '/console/login',
    `${DOCS_ORIGIN}/login`,
  ])('accepts %s, which is none of our endpoints', (target) => {
    expect(refusalOf(target)).toBeUndefined();
  });

  it.each([
    ['evil.example', 'target_malformed'],
    ['/\u0000', 'target_malformed'],
    ['//evil.example', 'target_malformed'],
    ['https://[', 'target_malformed'],
    ['https://evil.example/', 'target_origin_not_allowed'],
    [`https://user@good.example/`, 'target_origin_not_allowed'],
    ['/a\\b', 'target_path_ambiguous'],
    [`${PUBLIC}\\a`, 'target_path_ambiguous'],
    ['/%2fevil.example', 'target_path_ambiguous'],
    ['/%252fevil.example', 'target_path_ambiguous'],
    [`/${'a'.repeat(8_192)}`, 'target_too_long'],
  ])('names the reason of a refusal: %s is %s', (target, reason) => {
    expect(refusalOf(target)).toBe(reason);
  });

  it('accepts a target of the greatest length, and refuses one character more', () => {
    const longest = PUBLIC + '/'.padEnd(REDIRECT_TARGET_MAX_LENGTH - PUBLIC.length, 'a');
    expect(longest).toHaveLength(REDIRECT_TARGET_MAX_LENGTH);
    expect(parseRedirectTarget(longest, POLICY)).toEqual({ ok: true, value: longest });
    expect(refusalOf(`${longest}a`)).toBe('target_too_long');
    // Also what would be short enough once its dot segments are resolved.
    expect(refusalOf(`/${'./'.repeat(REDIRECT_TARGET_MAX_LENGTH / 2)}x`)).toBe('target_too_long');
  });

  it('bounds the Location and not only the text it came from: what is accepted once is accepted again', () => {
    // Each letter becomes six characters.
    expect(refusalOf(`/${'é'.repeat(1_000)}`)).toBe('target_too_long');
    expect(refusalOf(`/${'é'.repeat(600)}`)).toBeUndefined();
    const relative = '/'.padEnd(REDIRECT_TARGET_MAX_LENGTH, 'a');
    expect(refusalOf(relative)).toBe('target_too_long');
  });

  it('accepts a path with U+202E as the escaped text it is sent as', () => {
    expect(parseRedirectTarget('/a\u202eb', POLICY)).toEqual({
      ok: true,
      value: `${PUBLIC}/a%E2%80%AEb`,
    });
  });
});
