/**
 * Durations as the requirement writes them (`5m`, `1h`): the format of Go's `time.ParseDuration`.
 *
 * @module
 */
import { accept, refuse } from './result.js';

const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
const DURATION = /^(?:\d{1,9}(?:\.\d{1,6})?(?:ms|s|m|h|d))+$/;
const TERM = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
/**
 * Parses a duration such as `90s`, `1h30m` or `7d` into milliseconds.
 *
 * Accepts the units `ms`, `s`, `m`, `h` and, beyond Go, `d`. A sign, a bare number, a blank and
 * sub-millisecond units are refused: none of our settings means anything by them. The sum is
 * bounded by 3,650 days, so that no caller has to think about overflow.
 *
 * @param text - Untrusted; typically from a configuration file.
 *
 * @returns `value`: whole milliseconds, at least 0. `error`: `not_a_duration` or `too_long`.
 */
export function parseDuration(text) {
  if (!DURATION.test(text)) return refuse('not_a_duration');
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(TERM))
    ms += Number(amount) * (UNIT_MS.get(unit ?? '') ?? 0);
  return ms > 3_650 * 86_400_000 ? refuse('too_long') : accept(Math.round(ms));
}
/**
 * Writes milliseconds as the shortest exact duration, `5400000` as `1h30m`.
 *
 * @param ms - Whole milliseconds, at least 0.
 */
export function formatDuration(ms) {
  let rest = ms;
  let text = '';
  for (const unit of ['d', 'h', 'm', 's', 'ms']) {
    const size = UNIT_MS.get(unit) ?? 1;
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === '' ? '0s' : text;
}
//# sourceMappingURL=duration.js.map
