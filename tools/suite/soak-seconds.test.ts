import { describe, expect, it } from 'vitest';
import { DEFAULT_SECONDS, parseSoakSeconds } from './soak-seconds.ts';

describe('npm run soak', () => {
  it.each([
    [[], DEFAULT_SECONDS],
    [['--seconds', '45'], 45],
    [['--seconds=1800'], 1_800],
    [['--help'], undefined],
  ])('%j lasts %s seconds', (args, seconds) => {
    expect(parseSoakSeconds(args)).toBe(seconds);
  });

  it.each(['44', '86401', '-1', '1e3', '60.5', '', 'x'])('refuses --seconds=%s', (text) => {
    expect(() => parseSoakSeconds([`--seconds=${text}`])).toThrow(RangeError);
  });

  it.each([['--minutes', '5'], ['300']])('refuses %s', (...args) => {
    expect(() => parseSoakSeconds(args)).toThrow(TypeError);
  });
});
