/**
 * The middle and the spread of a few values.
 *
 * @module
 */

/** What several rounds gave. */
export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** The middle value; of an even count the mean of the two in the middle. `NaN` of none. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const lower = sorted[Math.ceil(half) - 1] ?? Number.NaN;
  return (lower + (sorted[Math.floor(half)] ?? Number.NaN)) / 2;
}

/** Median, least and most of the rounds. */
export function summarize(values: readonly number[]): Summary {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}
