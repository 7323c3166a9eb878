import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRequestTarget } from './request-target.ts';

const ORIGIN = 'https://flows.example.org';

describe('parseRequestTarget', () => {
  it.each([
    ['/', '/', '/'],
    ['/a/b?c=d#'.slice(0, -1), '/a/b', '/a/b?c=d'],
    ['/a?b?c', '/a', '/a?b?c'],
    ['/a/../b/%2e%2e//c', '/a/../b/%2e%2e//c', '/a/../b/%2e%2e//c'],
    ['/caf\u00c3\u00a9', '/caf\u00c3\u00a9', '/caf\u00c3\u00a9'],
    [`${ORIGIN}/a?b`, '/a', '/a?b'],
    [ORIGIN, '/', '/'],
    [`${ORIGIN}?b`, '/', '/?b'],
    [`${ORIGIN}:443/a`, '/a', '/a'],
    ['HTTPS://FLOWS.example.org/a/../b', '/a/../b', '/a/../b'],
  ])('takes %s byte for byte', (sent, path, target) => {
    expect(parseRequestTarget(sent, ORIGIN)).toEqual({ ok: true, value: { path, target } });
  });

  it.each([
    ['', 'empty'],
    ['*', 'asterisk form'],
    ['flows.example.org:443', 'authority form'],
    ['a/b', 'no slash in front'],
    ['http://flows.example.org/', 'another scheme'],
    ['https://flows.example.org:444/', 'another port'],
    ['https://evil.example/', 'another host'],
    ['https://flows.example.org.evil.example/', 'suffix host'],
    ['https://evil@flows.example.org/', 'user information'],
    ['https://flows.example.org\\@evil.example/', 'backslash in the authority'],
    ['https:///a', 'no authority'],
    ['ftp://flows.example.org/', 'another scheme'],
    ['/secret#/public', 'raw #'],
    ['/a?b#c', 'raw # in the query'],
    [`${ORIGIN}/a#b`, 'raw # in absolute form'],
    ['/a b', 'space'],
    ['/a\tb', 'tab'],
    ['/a\r\nx: y', 'line break'],
    ['/a\u0000', 'NUL'],
    ['/a\u007f', 'DEL'],
    ['/\u0100', 'more than a byte'],
  ])('refuses %j (%s)', (sent) => {
    expect(parseRequestTarget(sent, ORIGIN)).toEqual({
      ok: false,
      error: { reason: 'request_target_malformed' },
    });
  });

  it('accepts only targets that start with a slash and that undici can send', () => {
    const sent = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((rest) => `/${rest}`),
      fc.string().map((rest) => ORIGIN + rest),
    );
    fc.assert(
      fc.property(sent, (text) => {
        const parsed = parseRequestTarget(text, ORIGIN);
        if (!parsed.ok) return;
        expect(parsed.value.target).toMatch(/^\/[\u0021-\u0022\u0024-\u007e\u0080-\u00ff]*$/);
        expect(parsed.value.target.startsWith(parsed.value.path)).toBe(true);
        expect(parsed.value.path).not.toContain('?');
      }),
    );
  });
});
