import { anyText } from '@sallyport/testing/arbitraries/any-text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestAccount } from './account-digest.ts';

const ADA = { issuer: 'https://idp.example', subject: 'ada' };

describe('digestAccount', () => {
  it('is the same for the same account, in 16 base64url characters', () => {
    expect(digestAccount(ADA)).toBe(digestAccount({ ...ADA }));
    // SHA-256 of ["account","https://idp.example","ada"], its first 12 bytes.
    expect(digestAccount(ADA)).toBe('88tQFrWFtGFouLTX');
  });

  it.each([
    ['another subject', { ...ADA, subject: 'grace' }],
    ['another issuer', { ...ADA, issuer: 'https://other.example' }],
    ['parts cut elsewhere', { issuer: 'https://idp.example","a', subject: 'da' }],
    ['parts that are swapped', { issuer: ADA.subject, subject: ADA.issuer }],
  ])('is another one for %s', (_, other) => {
    expect(digestAccount(other)).not.toBe(digestAccount(ADA));
  });

  it('is 16 base64url characters for any account', () => {
    fc.assert(
      fc.property(anyText(), anyText(), (issuer, subject) => {
        expect(digestAccount({ issuer, subject })).toMatch(/^[A-Za-z0-9_-]{16}$/);
      }),
    );
  });
});
