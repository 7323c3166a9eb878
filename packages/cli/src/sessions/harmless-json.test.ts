import { withoutUnprintable } from '@sallyport/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeHarmlessJson } from './harmless-json.ts';

const RUNS = process.env['CI'] === undefined ? 500 : 5_000;

describe('JSON for a terminal', () => {
  it('escapes what would move the cursor, hide or reorder text, and nothing else', () => {
    const text = '\u009b31m \u202e \u{e0041} Zoë 山田 😀 "q"';
    expect(writeHarmlessJson({ text })).toBe(
      '{"text":"\\u009b31m \\u202e \\udb40\\udc41 Zoë 山田 😀 \\"q\\""}',
    );
  });

  it('reads back as what was written, and holds nothing unprintable', () => {
    const value = fc.jsonValue({ stringUnit: 'grapheme' });
    const units = fc.array(fc.nat({ max: 0xffff })).map((all) => String.fromCharCode(...all));
    fc.assert(
      fc.property(fc.oneof(value, units), (any) => {
        const written = writeHarmlessJson(any);
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(any)));
        expect(withoutUnprintable(written)).toBe(written);
      }),
      { numRuns: RUNS },
    );
  });
});
