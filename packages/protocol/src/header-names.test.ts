import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalHeaderName,
  DEFAULT_AUTHORIZATION_HEADER,
  HOP_BY_HOP_HEADERS,
} from './header-names.ts';

describe('header names', () => {
  it('brings a name into one spelling, once and for all', () => {
    expect(canonicalHeaderName('X_User-SUBJECT')).toBe('x-user-subject');
    fc.assert(
      fc.property(fc.string(), (name) => {
        const canonical = canonicalHeaderName(name);
        expect(canonicalHeaderName(canonical)).toBe(canonical);
      }),
    );
  });

  it('Bearer header, rule 1: names core-authorization', () => {
    expect(DEFAULT_AUTHORIZATION_HEADER).toBe('core-authorization');
  });

  it('RFC 9110 7.6.1: lists hop-by-hop names in lower case, and no end-to-end name among them', () => {
    for (const name of [
      'connection',
      'keep-alive',
      'te',
      'trailer',
      'transfer-encoding',
      'upgrade',
      'proxy-authorization',
    ])
      expect(HOP_BY_HOP_HEADERS.has(name)).toBe(true);
    for (const name of HOP_BY_HOP_HEADERS) expect(name).toBe(name.toLowerCase());
    for (const name of [
      'cookie',
      'authorization',
      'host',
      'content-length',
      DEFAULT_AUTHORIZATION_HEADER,
    ])
      expect(HOP_BY_HOP_HEADERS.has(name)).toBe(false);
  });
});
