import { describe, expect, it } from 'vitest';
import { relativePhrase, writeMoment } from './moment.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('writeMoment', () => {
  it('says the time in UTC, for machines too, and how far away it is', () => {
    expect(writeMoment(NOON + 17 * SECOND + 500, NOON + 3 * HOUR).toString()).toBe(
      '<time datetime="2026-11-21T12:00:17Z">2026-11-21 12:00 UTC</time> (3 hours ago)',
    );
  });
});

describe('relativePhrase', () => {
  it.each([
    [0, 'just now'],
    [-59 * SECOND, 'just now'],
    [59 * SECOND, 'in less than a minute'],
    [-MINUTE, '1 minute ago'],
    [MINUTE, 'in 1 minute'],
    [-89 * SECOND, '1 minute ago'],
    [-90 * SECOND, '2 minutes ago'],
    [-59 * MINUTE, '59 minutes ago'],
    [-(59 * MINUTE + 40 * SECOND), '1 hour ago'],
    [-HOUR, '1 hour ago'],
    [12 * HOUR, 'in 12 hours'],
    [12 * HOUR - SECOND, 'in 12 hours'],
    [47 * HOUR, 'in 47 hours'],
    [48 * HOUR, 'in 2 days'],
    [7 * DAY - MINUTE, 'in 7 days'],
    [-400 * DAY, '400 days ago'],
  ])('%d ms away is %s', (distance, phrase) => {
    expect(relativePhrase(NOON + distance, NOON)).toBe(phrase);
  });
});
