/**
 * Durations as the requirement writes them (`5m`, `1h`): the format of Go's `time.ParseDuration`.
 *
 * @module
 */
import { type Result } from './result.ts';
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
export declare function parseDuration(text: string): Result<number, 'not_a_duration' | 'too_long'>;
/**
 * Writes milliseconds as the shortest exact duration, `5400000` as `1h30m`.
 *
 * @param ms - Whole milliseconds, at least 0.
 */
export declare function formatDuration(ms: number): string;
//# sourceMappingURL=duration.d.ts.map
