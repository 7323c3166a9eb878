import { createTokens } from '@sallyport/testing/client/tokens';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTokenRecord, serializeTokenRecord } from './token-record.ts';

const RECORD = JSON.parse(serializeTokenRecord(createTokens('1'))) as Record<string, unknown>;

describe('Token record', () => {
  it('reads back what was written, whatever is in it', () => {
    const tokens = fc.record({
      accessToken: fc.string({ minLength: 1 }),
      expiresAt: fc.option(fc.nat(), { nil: undefined }),
      obtainedAt: fc.nat(),
      refreshToken: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      scopes: fc.array(fc.string()),
    });
    fc.assert(
      fc.property(tokens, (kept) => {
        expect(parseTokenRecord(serializeTokenRecord(kept))).toEqual(kept);
      }),
    );
  });

  it('any other text is no record, and never an error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(parseTokenRecord(text)).toBeUndefined();
      }),
    );
  });

  it.each<[string, Record<string, unknown>]>([
    ['a later version', { version: 2 }],
    ['no version', { version: undefined }],
    ['no access token', { access_token: undefined }],
    ['an empty access token', { access_token: '' }],
    ['an end that is text', { expires_at: '2026' }],
    ['no time it was obtained at', { obtained_at: undefined }],
    ['an empty refresh token', { refresh_token: '' }],
    ['a refresh token that is a number', { refresh_token: 7 }],
    ['scopes in one text', { scopes: 'all' }],
    ['a scope that is a number', { scopes: [1] }],
  ])('%s: there is none', (_name, change) => {
    expect(parseTokenRecord(JSON.stringify({ ...RECORD, ...change }))).toBeUndefined();
  });

  it('a time that JSON reads as infinite, half a record and a huge one: there is none', () => {
    const text = JSON.stringify(RECORD);
    expect(parseTokenRecord(text)).toBeDefined();
    expect(
      parseTokenRecord(text.replace(/"expires_at":\d+/, '"expires_at":1e999')),
    ).toBeUndefined();
    expect(parseTokenRecord(text.slice(0, -1))).toBeUndefined();
    expect(parseTokenRecord(`${text}${' '.repeat(300_000)}`)).toBeUndefined();
  });

  it('a member it does not know does no harm', () => {
    expect(parseTokenRecord(JSON.stringify({ ...RECORD, note: 1 }))).toEqual(createTokens('1'));
  });
});
