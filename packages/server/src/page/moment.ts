/**
 * Points in time on a page: for machines in UTC, for people with how far away they are.
 *
 * @module
 */

import { type Html, html } from '@sallyport/protocol';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Each unit is used up to where the next one says as much. */
const UNITS = [
  { below: 60 * MINUTE_MS, ms: MINUTE_MS, name: 'minute' },
  { below: 48 * HOUR_MS, ms: HOUR_MS, name: 'hour' },
  { below: Number.POSITIVE_INFINITY, ms: DAY_MS, name: 'day' },
] as const;

/**
 * Writes a point in time: `2026-11-21 09:17 UTC (3 hours ago)`.
 *
 * @param at - Epoch milliseconds.
 * @param now - Epoch milliseconds.
 */
export function writeMoment(at: number, now: number): Html {
  const iso = new Date(at).toISOString();
  const machine = `${iso.slice(0, 19)}Z`;
  const person = `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
  return html`<time datetime="${machine}">${person}</time> (${relativePhrase(at, now)})`;
}

/** How far away a point in time is: `3 hours ago`, `in 7 days`, `just now`. */
export function relativePhrase(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance < MINUTE_MS) return at > now ? 'in less than a minute' : 'just now';
  // Whatever rounds up to the next unit is said in that one: no "60 minutes ago".
  const unit = UNITS.find(({ below, ms }) => Math.round(distance / ms) * ms < below) ?? UNITS[2];
  const count = Math.round(distance / unit.ms);
  const length = `${count} ${unit.name}${count === 1 ? '' : 's'}`;
  return at > now ? `in ${length}` : `${length} ago`;
}
