import { SallyportError } from '@sallyport/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorType } from './tracer.ts';

describe('errorType', () => {
  it('is the code of an error, else its class', () => {
    const coded = Object.assign(new Error('canary'), { code: 'ECONNREFUSED' });
    expect(errorType(coded)).toBe('ECONNREFUSED');
    expect(errorType(new SallyportError('SP_STORE_UNAVAILABLE', { component: 'store' }))).toBe(
      'SP_STORE_UNAVAILABLE',
    );
    expect(errorType(new TypeError('canary'))).toBe('TypeError');
  });

  it('is a name, whatever is thrown: never a message', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (thrown, text) => {
        const odd = Object.assign(new Error(text), { code: text });
        for (const cause of [thrown, odd])
          expect(errorType(cause)).toMatch(/^[A-Za-z][A-Za-z0-9_]{0,63}$/);
      }),
    );
    for (const cause of [undefined, 'canary', { code: 'X' }])
      expect(errorType(cause)).toBe('unknown');
  });
});
