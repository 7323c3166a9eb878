import { anyText } from '@sallyport/testing/arbitraries/any-text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSessionHandle } from './session-cookie.ts';
import { formatSessionId, parseSessionId } from './session-id.ts';

const RUNS = process.env['CI'] === undefined ? 1_000 : 10_000;
const anyId = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe("a session's id in writing", () => {
  it('is the part of the cookie before the dot, and reads back as the same id', () => {
    const secret = Buffer.alloc(32, 1);
    fc.assert(
      fc.property(anyId, (id) => {
        expect(formatSessionId(id)).toBe(formatSessionHandle({ id, secret }).split('.')[0]);
        expect(parseSessionId(formatSessionId(id))).toBe(id);
      }),
      { numRuns: RUNS },
    );
  });

  it('has one spelling: whatever is an id is written the same again', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{8}$/), (text) => {
        expect(formatSessionId(parseSessionId(text) ?? 0)).toBe(text);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    '',
    'AAAAAAA',
    'AAAAAAAAA',
    'AAAA+AAA',
    'AAAAAAA=',
    ' AAAAAAAA',
    'AAAAAAAA\n',
    'AAAAAAAB.AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE',
  ])('%j is none', (text) => {
    expect(parseSessionId(text)).toBeUndefined();
  });

  it('takes no text for an id that it would not write', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.string({ maxLength: 9 })), (text) => {
        const id = parseSessionId(text);
        expect(id === undefined || formatSessionId(id) === text).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});
