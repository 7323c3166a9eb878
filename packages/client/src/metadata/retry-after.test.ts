import { describe, expect, it } from 'vitest';
import { readRetryAfter } from './retry-after.ts';

const DATE = 'Mon, 05 Jan 2026 12:00:00 GMT';
const NOW = Date.UTC(2026, 0, 5, 12);
const never = (): number => {
  throw new Error('the clock is not asked');
};

const read = (retryAfter: string): number =>
  readRetryAfter(new Headers({ 'retry-after': retryAfter, date: DATE }), never);

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['0000000042', 42],
    ['300', 300],
    ['301', 300],
    ['9999', 300],
    ['10000', 300],
    ['86400', 300],
    ['9'.repeat(400), 300],
  ])('of %s seconds is %i seconds: 5 minutes at most', (text, seconds) => {
    expect(read(text)).toBe(seconds);
  });

  it.each([
    ['Mon, 05 Jan 2026 12:00:42 GMT', 42],
    ['Monday, 05-Jan-26 12:00:42 GMT', 42],
    ['Mon Jan  5 12:00:42 2026', 42],
    ['Mon, 05 Jan 2026 13:00:00 GMT', 300],
    ['Mon, 05 Jan 2026 11:59:00 GMT', 0],
  ])('of the date %s counts from the Date of the answer: %i seconds', (text, seconds) => {
    expect(read(text)).toBe(seconds);
  });

  it('as a date counts from the clock where the answer has no Date', () => {
    const headers = new Headers({ 'retry-after': 'Mon, 05 Jan 2026 12:01:00 GMT' });
    expect(readRetryAfter(headers, () => NOW)).toBe(60);
  });

  it.each([
    '',
    '-1',
    '1.5',
    '7 s',
    'soon',
    '2026-01-05T12:01:00Z',
    'Mon, 99 Xxx 2026 12:00:00 GMT',
  ])('that is neither (%j) counts as 5 seconds', (text) => {
    expect(read(text)).toBe(5);
  });

  it('that is missing counts as 5 seconds', () => {
    expect(readRetryAfter(new Headers())).toBe(5);
    expect(readRetryAfter(undefined)).toBe(5);
  });
});
