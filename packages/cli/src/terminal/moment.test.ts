import { describe, expect, it } from 'vitest';
import { describeMoment } from './moment.ts';

const NOW = Date.UTC(2026, 10, 21, 8, 17, 39, 500);

describe('A point in time', () => {
  it.each([
    [3_600_000, '2026-11-21T09:17:39Z (in 1h)'],
    [3_599_999, '2026-11-21T09:17:39Z (in 59m)'],
    [59_000, '2026-11-21T08:18:38Z (in 59s)'],
    [0, '2026-11-21T08:17:39Z (0s ago)'],
    [-90_061_000, '2026-11-20T07:16:38Z (1d1h1m ago)'],
    [200_000_000, '2026-11-23T15:50:59Z (in 2d7h)'],
  ])('%d ms away is %s', (distance, expected) => {
    expect(describeMoment(NOW + distance, NOW)).toBe(expected);
  });
});
