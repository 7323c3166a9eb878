import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CookieAttributes,
  readCookies,
  serializeSetCookie,
  withoutCookies,
} from './cookie.ts';

const RUNS = process.env['CI'] === undefined ? 1_000 : 10_000;

/** Text of any UTF-16 code units; the unit `binary` takes a second to set up. */
const anyText = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xffff })), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

const PLAIN: CookieAttributes = { maxAgeSeconds: 60, secure: false };
const SECURE: CookieAttributes = { maxAgeSeconds: 60, secure: true, sameSite: 'Lax' };

const anyName = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
const anyValue = fc.stringMatching(/^[\x21\x23-\x2B\x2D-\x3A\x3C-\x5B\x5D-\x7E]{0,20}$/);

describe('readCookies', () => {
  it.each([
    ['a=1', ['1']],
    ['b=0; a=1; c=2', ['1']],
    ['a=1; a=2;a=3', ['1', '2', '3']],
    ['a=1;\ta=2', ['1', '2']],
    [' a = 1 ', ['1']],
    ['a=', ['']],
    ['a="1"', ['"1"']],
    ['a=x=y==', ['x=y==']],
  ])('finds every value, in the order sent, as sent: %s', (header, values) => {
    expect(readCookies(header, 'a')).toEqual(values);
  });

  it.each([
    undefined,
    '',
    ';;;',
    '=1',
    'a',
    'A=1',
    'aa=1',
    'b=a=1',
    'b=a; a',
    'xa=1',
    'a[0]=1',
    '"a"=1',
  ])('finds nothing where the exact name is not: %s', (header) => {
    expect(readCookies(header, 'a')).toEqual([]);
  });

  it.each(['\u00a0', '\ufeff', '\u2003', '\u000b', '\u000c'])(
    'takes no other white space for a part of the frame: a sibling domain could plant %j__Host-…, which browsers do not guard',
    (space) => {
      expect(readCookies(`${space}__Host-a=planted`, '__Host-a')).toEqual([]);
      expect(readCookies(`__Host-a${space}=planted`, '__Host-a')).toEqual([]);
      expect(readCookies(`x=1; ${space}__Host-a=planted; __Host-a=mine`, '__Host-a')).toEqual([
        'mine',
      ]);
    },
  );

  it('never throws, and gives values without a separator', () => {
    const header = fc.oneof(
      anyText,
      fc
        .array(fc.constantFrom('a', '=', ';', ' ', '"', '\u0000', ',', 'é'), { maxLength: 30 })
        .map((all) => all.join('')),
    );
    fc.assert(
      fc.property(header, fc.oneof(fc.constant('a'), anyText), (text, name) => {
        for (const value of readCookies(text, name)) expect(value).not.toContain(';');
      }),
      { numRuns: RUNS },
    );
  });

  it('finds what serializeSetCookie wrote, between any others', () => {
    fc.assert(
      fc.property(
        anyName.filter((name) => !/^__(?:Host|Secure)-/.test(name)),
        anyValue,
        fc.array(fc.tuple(anyName, anyValue)),
        fc.nat(),
        (name, value, others, position) => {
          const pair = serializeSetCookie(name, value, PLAIN).split(';', 1)[0] ?? '';
          const pairs = others.filter(([other]) => other !== name).map(([n, v]) => `${n}=${v}`);
          pairs.splice(position % (pairs.length + 1), 0, pair);
          expect(readCookies(pairs.join('; '), name)).toEqual([value]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

function isOurs(name: string): boolean {
  return name === 'mine' || name.startsWith('own_');
}

describe('withoutCookies', () => {
  it.each([
    ['mine=1', undefined],
    ['mine=1; own_0=2', undefined],
    ['mine', undefined],
    ['; ;', undefined],
    ['a=1; mine=2; b=3; mine=4', 'a=1; b=3'],
    ['a=1;mine=2;b=3', 'a=1; b=3'],
    ['a=mine=1; xmine=2; Mine=3', 'a=mine=1; xmine=2; Mine=3'],
    [' mine =1; a="x"', 'a="x"'],
    // A browser guards no such name by its prefix: to it this is another cookie.
    ['\u00a0mine=1; mine\u00a0=2', '\u00a0mine=1; mine\u00a0=2'],
  ])('removes ours and leaves the others as they are: %s', (header, rest) => {
    expect(withoutCookies(header, isOurs)).toBe(rest);
  });

  it('removes exactly ours, whatever stands beside them', () => {
    const name = fc.oneof(fc.constantFrom('mine', 'own_0', 'own_1', 'min', 'mine2', 'a'), anyName);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, anyValue)), (pairs) => {
        const header = pairs.map(([n, v]) => `${n}=${v}`).join('; ');
        const rest = withoutCookies(header, isOurs);
        const kept = pairs.filter(([n]) => !isOurs(n)).map(([n, v]) => `${n}=${v}`);
        expect(rest).toBe(kept.length === 0 ? undefined : kept.join('; '));
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves nothing of ours for any reader, for any header', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('mine', '=', ';', ' ', '\t', 'x', '"'), { maxLength: 20 }),
        (all) => {
          const rest = withoutCookies(all.join(''), isOurs);
          expect(readCookies(rest, 'mine')).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('serializeSetCookie', () => {
  it('writes Path=/ and HttpOnly always, the rest as asked', () => {
    expect(serializeSetCookie('a', 'v', PLAIN)).toBe('a=v; Path=/; Max-Age=60; HttpOnly');
    expect(serializeSetCookie('__Host-a', 'v', SECURE)).toBe(
      '__Host-a=v; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax',
    );
    expect(
      serializeSetCookie('__Secure-a', '', {
        ...SECURE,
        sameSite: 'None',
        domain: 'a.example',
        maxAgeSeconds: 0,
      }),
    ).toBe('__Secure-a=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=None; Domain=a.example');
  });

  it.each(['', 'a b', 'a=b', 'a;b', 'é', 'a\r\nSet-Cookie: x', 'a"', '(a)'])(
    'RFC 6265 4.1.1: refuses the name %j',
    (name) => {
      expect(() => serializeSetCookie(name, 'v', PLAIN)).toThrow(TypeError);
    },
  );

  it.each([' ', 'a b', 'a;b', 'a,b', 'a"b', 'a\\b', 'é', '\u0000', 'a\r\nSet-Cookie: x', '\u007f'])(
    'RFC 6265 4.1.1: refuses the value %j, and does not repeat it',
    (value) => {
      let message = '';
      try {
        serializeSetCookie('name', `canary${value}`, PLAIN);
      } catch (error) {
        message = error instanceof TypeError ? error.message : 'no TypeError';
      }
      expect(message).toBe('cookie name: value holds a character cookies cannot carry');
    },
  );

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60])(
    'refuses Max-Age %s',
    (maxAgeSeconds) => {
      expect(() => serializeSetCookie('a', 'v', { ...PLAIN, maxAgeSeconds })).toThrow('Max-Age');
    },
  );

  it.each(['', 'A.example', '.a.example', 'a.example.', 'a example', 'a;b', 'a\r\nb', 'é.example'])(
    'refuses the domain %j',
    (domain) => {
      expect(() => serializeSetCookie('a', 'v', { ...PLAIN, domain })).toThrow('domain');
    },
  );

  it.each([
    ['__Host-a', { ...SECURE, secure: false }, '__Host- without Secure'],
    ['__Host-a', { ...SECURE, domain: 'a.example' }, '__Host- with a Domain'],
    ['__Secure-a', { ...SECURE, secure: false }, '__Secure- without Secure'],
    ['a', { ...PLAIN, sameSite: 'None' as const }, 'SameSite=None without Secure'],
  ])(
    'RFC 6265bis 4.1.3: refuses %s %j, which every browser would drop (%s)',
    (name, attributes) => {
      expect(() => serializeSetCookie(name, 'v', attributes)).toThrow(TypeError);
    },
  );
});
