import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

const RUNS = process.env['CI'] === undefined ? 2_000 : 20_000;

/** Text of any UTF-16 code units; the unit `binary` takes a second to set up. */
const anyText = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xffff })), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

const LONGEST_MS = 3_650 * 86_400_000;

describe('parseDuration', () => {
  it.each([
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1h30m15s250ms', 5_415_250],
    ['1.5h', 5_400_000],
    ['0.25s', 250],
    ['250ms', 250],
    ['0s', 0],
    ['0.0004s', 0],
    ['7d', 604_800_000],
    ['1d12h', 129_600_000],
    ['30s1m', 90_000],
    ['1m1m', 120_000],
    ['3650d', LONGEST_MS],
  ])('reads %s as %d milliseconds', (text, ms) => {
    expect(parseDuration(text)).toEqual({ ok: true, value: ms });
  });

  it.each([
    '',
    ' ',
    '5',
    '0',
    'm',
    '5 m',
    ' 5m',
    '5m ',
    '5m\n',
    '-5m',
    '+5m',
    '.5h',
    '5.h',
    '1e3s',
    '1,5h',
    '5M',
    '5us',
    '5µs',
    '5ns',
    '5w',
    '5min',
    '1h30',
    '٥m',
    '1234567890s',
    '1.1234567s',
    'Infinity',
    '0x5m',
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toEqual({ ok: false, error: 'not_a_duration' });
  });

  it.each(['3650d1ms', '3651d', '999999999d', '87601h', '999999999d'.repeat(50)])(
    'refuses %s, which is longer than 3,650 days',
    (text) => {
      expect(parseDuration(text)).toEqual({ ok: false, error: 'too_long' });
    },
  );

  it('gives a whole number of milliseconds within bounds, or a refusal, for any text', () => {
    const text = fc.oneof(
      anyText,
      fc.stringMatching(/^(?:\d{1,10}(?:\.\d{0,7})?(?:ms|s|m|h|d|us)?){0,4}$/),
    );
    fc.assert(
      fc.property(text, (any) => {
        const parsed = parseDuration(any);
        if (!parsed.ok) return;
        expect(Number.isSafeInteger(parsed.value)).toBe(true);
        expect(parsed.value).toBeGreaterThanOrEqual(0);
        expect(parsed.value).toBeLessThanOrEqual(LONGEST_MS);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [1, '1ms'],
    [5_400_000, '1h30m'],
    [300_000, '5m'],
    [86_400_000, '1d'],
    [90_061_001, '1d1h1m1s1ms'],
  ])('writes %d as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('writes what parseDuration reads back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: LONGEST_MS }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ ok: true, value: ms });
      }),
      { numRuns: RUNS },
    );
  });
});
