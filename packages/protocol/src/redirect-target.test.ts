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
const DOCS = 'https://docs.example:8443';
const ROOT = `${PUBLIC}/`;
const POLICY: LandingPolicy = {
  publicOrigin: PUBLIC,
  redirectOrigins: new Set([DOCS]),
  landing: `${PUBLIC}/console`,
};

function refusalOf(target: string): string | undefined {
  const parsed = parseRedirectTarget(target, POLICY);
  return parsed.ok ? undefined : parsed.error;
}

/** What attackers put into redirect parameters, by the trick they rely on. */
const PAYLOADS: Readonly<Record<string, readonly string[]>> = {
  slashes: [
    '//evil.example',
    '///evil.example',
    '////evil.example/..',
    '/./\\evil.example',
    '/..//evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    `${PUBLIC}//evil.example`,
    `${PUBLIC}/.//evil.example`,
  ],
  'backslashes and control characters': [
    '/\\evil.example',
    '/\\/evil.example',
    '\\/\\/evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\r/evil.example',
    '/a\u007fb',
    '/%09/evil.example',
    '/%0a/evil.example',
    '/%0d%0aSet-Cookie:x=1',
    '/%5cevil.example',
    '/%2f%2fevil.example',
    '/%2fevil.example',
    '/%2fresolve.invalid/x',
    '/a/..%2f%2fevil.example',
    `${PUBLIC}\\evil.example`,
    `${PUBLIC}\\@evil.example`,
    `${PUBLIC}\\/evil.example`,
    `${PUBLIC}/a\\b`,
    `${PUBLIC}/%5cevil.example`,
  ],
  'forms of the scheme': [
    'https:evil.example',
    'https:/evil.example',
    'https:///evil.example',
    'HTTPS://evil.example',
    'http:\\\\evil.example',
    'ht\ttps://evil.example',
    'https:good.example/',
    'https:/good.example/',
    'https:///good.example/',
    'http://good.example/',
    'ftp://good.example/',
    ' https://good.example/',
    ' //evil.example',
  ],
  'user info and host confusion': [
    '//good.example@evil.example',
    'https://good.example@evil.example',
    'https://good.example:443@evil.example',
    'https://good.example%40evil.example',
    'https://good.example%2eevil.example',
    'https://evil.example#good.example',
    'https://evil.example?good.example',
    'https://evil.example\\.good.example',
    'https://evil.example%5c.good.example',
    'https://user@good.example/',
    'https://user:password@good.example/',
    'https://:@evil.example/',
  ],
  'hosts that look alike': [
    'https://good.example.evil.example',
    'https://evil-good.example',
    'https://evil。example',
    'https://ｅvil.example',
    'https://xn--god-2na.example',
    'https://good.example.',
    'https://GOOD.example:444',
    'https://docs.example',
    'http://docs.example:8443',
  ],
  'numeric hosts': [
    'https://[::1]',
    'https://0x7f000001',
    'https://2130706433',
    'https://0330.072.0326.0316',
  ],
  'script schemes': [
    'javascript:alert(1)',
    'jaVAscript://good.example/%0aalert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://good.example/x',
    '%19javascript:alert(1)',
    '" onmouseover=alert(1)',
  ],
  'pieces of a host': [';@evil.example', '@evil.example', '.evil.example', 'evil.example'],
  'degenerate text': [
    '',
    '\u0000',
    '/\u0000',
    `/${'a'.repeat(8_192)}`,
    '\ufeff',
    '\ufeff//evil.example',
    '\u202e//evil.example',
    '\u2066https://evil.example',
    '?x',
    '#x',
  ],
};

/** The payload, and the same behind one and two percent-encodings; the first slash as it is, so that it still is a path. */
function* spellings(payload: string): Generator<string> {
  let whole = payload;
  let afterSlash = payload.slice(1);
  yield payload;
  // What is encoded already gets one layer less: two decodings are looked at.
  for (let layers = payload.includes('%') ? 1 : 2; layers > 0; layers -= 1) {
    whole = encodeURIComponent(whole);
    yield whole;
    if (!payload.startsWith('/')) continue;
    afterSlash = encodeURIComponent(afterSlash);
    yield `/${afterSlash}`;
  }
}

describe('selectRedirectTarget', () => {
  describe.each(Object.entries(PAYLOADS))('falls back to the public root: %s', (_, payloads) => {
    it.each(payloads.map((payload) => [JSON.stringify(payload).slice(0, 60), payload]))(
      '%s, plain and percent-encoded once and twice',
      (_shown, payload) => {
        for (const spelling of spellings(payload))
          expect(selectRedirectTarget(spelling, POLICY), spelling).toBe(ROOT);
      },
    );
  });

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

  it.each([
    '/',
    '/console/projects/flytesnacks/domains/development?x=1&y=%20z#/fragment',
    '/a?next=//evil.example&back=\\x&third=%2F%2Fevil.example',
    '/a//b',
    '/a%2Fb/%3Fc',
    '/caf%C3%A9/%E2%80%99',
    '/%F0%9F%9A%80?emoji=%F0%9F%9A%80',
    '/a%20b/~user/x;v=1,2/$&+=:@!*()',
    '/.well-known/openid-configuration',
    '/a.b/..c/d..',
    '/@evil.example',
    '/a/@evil.example:80/',
    '/?a=1?b=2#c?d',
    "/it's",
  ])('keeps path, query and fragment of a deep link byte for byte: %s', (target) => {
    expect(selectRedirectTarget(target, POLICY)).toBe(PUBLIC + target);
    expect(selectRedirectTarget(PUBLIC + target, POLICY)).toBe(PUBLIC + target);
  });

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
    expect(selectRedirectTarget(`${DOCS}/guide?x=1`, POLICY)).toBe(`${DOCS}/guide?x=1`);
    expect(selectRedirectTarget('HTTPS://DOCS.example:8443/x', POLICY)).toBe(`${DOCS}/x`);
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
      fc.constantFrom('https:', 'http://', 'HTTPS://', 'javascript:', PUBLIC, DOCS, 'good.example'),
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
    const allowed = new Set([PUBLIC, DOCS]);
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
    `${DOCS}/login`,
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
