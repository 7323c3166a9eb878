/**
 * Points in time as a person reads them.
 *
 * @module
 */

import { formatDuration } from '@sallyport/protocol';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Writes a point in time with how far away it is: `2026-11-21T09:17:39Z (in 59m)`.
 *
 * @param at - Epoch milliseconds.
 * @param now - Epoch milliseconds.
 */
export function describeMoment(at: number, now: number): string {
  const distance = Math.abs(at - now);
  // At most two units.
  const unit = distance >= 48 * HOUR_MS ? HOUR_MS : distance >= MINUTE_MS ? MINUTE_MS : SECOND_MS;
  const length = formatDuration(Math.floor(distance / unit) * unit);
  const utc = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
  return `${utc} (${at > now ? `in ${length}` : `${length} ago`})`;
}
