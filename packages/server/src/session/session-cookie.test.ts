import { anyText } from '@sallyport/testing/arbitraries/any-text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clearSessionCookie,
  createCookieSettings,
  createSessionHandle,
  formatSessionHandle,
  isIdOfSecret,
  parseSessionHandle,
  setSessionCookie,
} from './session-cookie.ts';

const RUNS = process.env['CI'] === undefined ? 1_000 : 10_000;
const HTTPS = new URL('https://flow.example');
const HTTP = new URL('http://localhost:8080');
const VALUE = 'AAAAAAAB.AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE';

const anyHandle = fc.record({
  id: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  secret: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
});

describe('the value of the session cookie', () => {
  it('is 52 characters that a cookie can carry, and reads back as the same handle', () => {
    fc.assert(
      fc.property(anyHandle, (handle) => {
        const value = formatSessionHandle(handle);
        expect(value).toMatch(/^[\w-]{8}\.[\w-]{43}$/);
        expect(value).toHaveLength(52);
        expect(parseSessionHandle(value)).toEqual(handle);
      }),
      { numRuns: RUNS },
    );
  });

  it('is new each time, id and secret', () => {
    const handles = Array.from({ length: 500 }, createSessionHandle);
    expect(new Set(handles.map(({ id }) => id)).size).toBe(500);
    expect(new Set(handles.map(({ secret }) => secret.toString('hex'))).size).toBe(500);
    for (const { id, secret } of handles) {
      expect(Number.isSafeInteger(id) && id >= 0 && id < 2 ** 48).toBe(true);
      expect(secret).toHaveLength(32);
    }
  });

  it('begins with no dash, so that a command line takes its id for no option', () => {
    // One in 64 would.
    const handles = Array.from({ length: 2_000 }, createSessionHandle);
    expect(handles.map(formatSessionHandle).filter((value) => value.startsWith('-'))).toEqual([]);
  });

  it('may begin with a dash where an earlier release drew it', () => {
    const secret = Buffer.alloc(32, 1);
    expect(parseSessionHandle(`-${VALUE.slice(1)}`)).toEqual({ id: 62 * 2 ** 42 + 1, secret });
  });

  it('has an id that belongs to its secret, and to no other one', () => {
    for (let turn = 0; turn < 200; turn += 1) {
      const [one, other] = [createSessionHandle(), createSessionHandle()];
      expect(isIdOfSecret(one)).toBe(true);
      expect(isIdOfSecret({ ...one, secret: other.secret })).toBe(false);
      expect(isIdOfSecret({ ...one, id: other.id })).toBe(false);
    }
  });

  it('has one spelling only: another last character of the same bytes is no session', () => {
    const secret = Buffer.alloc(32, 1);
    expect(parseSessionHandle(VALUE)).toEqual({ id: 1, secret });
    const loose = ['F', 'G', 'H'].map((last) => VALUE.slice(0, -1) + last);
    for (const other of loose) {
      expect(Buffer.from(other.slice(9), 'base64url').equals(secret), other).toBe(true);
      expect(parseSessionHandle(other), other).toBeUndefined();
    }
  });

  it.each([
    '',
    '.',
    VALUE.slice(1),
    VALUE.slice(0, -1),
    `${VALUE}A`,
    `${VALUE}=`,
    ` ${VALUE}`,
    `${VALUE}\n`,
    `"${VALUE}"`,
    VALUE.replace('.', '_'),
    VALUE.replace('.', '..'),
    VALUE.replace('A', '+'),
    VALUE.replace('A', '/'),
    VALUE.replace('A', 'é'),
    VALUE.replace('A', '\u0000'),
    VALUE.repeat(200),
  ])('refuses %j', (value) => {
    expect(parseSessionHandle(value)).toBeUndefined();
  });

  it('is either refused or the very spelling it would be written in', () => {
    const text = fc.oneof(
      fc.stringMatching(/^[\w-]{8}\.[\w-]{43}$/),
      fc
        .tuple(fc.nat({ max: 51 }), anyText(2))
        .map(([at, put]) => VALUE.slice(0, at) + put + VALUE.slice(at + 1)),
      anyText(),
    );
    fc.assert(
      fc.property(text, (value) => {
        const handle = parseSessionHandle(value);
        expect(handle === undefined || formatSessionHandle(handle) === value).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});

function attributes(header: string): string {
  return header.replace(/^[^;]*/, '').replace(/Max-Age=\d+/, 'Max-Age=N');
}

describe('names and attributes', () => {
  it('https without a domain: __Host-, Secure, HttpOnly, Path=/, SameSite=Lax, no Domain, under 200 bytes', () => {
    const settings = createCookieSettings(HTTPS, 'Lax', '');
    expect(settings.sessionName).toBe('__Host-core_session');
    expect(settings.attemptNames).toEqual([0, 1, 2, 3].map((slot) => `__Host-core_login_${slot}`));
    const header = setSessionCookie(settings, VALUE, 43_200);
    expect(header).toBe(
      `__Host-core_session=${VALUE}; Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax`,
    );
    expect(header.length).toBeLessThan(200);
  });

  it('https with a domain: __Secure-, because __Host- forbids Domain', () => {
    const settings = createCookieSettings(HTTPS, 'Lax', 'example.com');
    expect(settings.sessionName).toBe('__Secure-core_session');
    expect(settings.attemptNames[3]).toBe('__Secure-core_login_3');
    expect(setSessionCookie(settings, VALUE, 60)).toBe(
      `__Secure-core_session=${VALUE}; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax; Domain=example.com`,
    );
  });

  it('http: no prefix and no Secure, which a browser would drop', () => {
    const settings = createCookieSettings(HTTP, 'Lax', '');
    expect(settings.sessionName).toBe('core_session');
    expect(settings.attemptNames[0]).toBe('core_login_0');
    expect(setSessionCookie(settings, VALUE, 60)).toBe(
      `core_session=${VALUE}; Path=/; Max-Age=60; HttpOnly; SameSite=Lax`,
    );
  });

  it('sends SameSite as asked: None with https, none at all when it is left to the browser', () => {
    expect(setSessionCookie(createCookieSettings(HTTPS, 'None', ''), VALUE, 60)).toContain(
      '; SameSite=None',
    );
    expect(setSessionCookie(createCookieSettings(HTTPS, undefined, ''), VALUE, 60)).not.toContain(
      'SameSite',
    );
    expect(() => setSessionCookie(createCookieSettings(HTTP, 'None', ''), VALUE, 60)).toThrow(
      TypeError,
    );
  });

  it.each([
    [HTTPS, ''],
    [HTTPS, 'example.com'],
    [HTTP, ''],
  ])('deletes with the attributes it was set with (%s, %j)', (url, domain) => {
    const settings = createCookieSettings(url, 'Lax', domain);
    const cleared = clearSessionCookie(settings);
    expect(cleared).toContain(`${settings.sessionName}=; `);
    expect(cleared).toContain('Max-Age=0;');
    expect(attributes(cleared)).toBe(attributes(setSessionCookie(settings, VALUE, 60)));
  });
});
