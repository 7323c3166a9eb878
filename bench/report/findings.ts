/**
 * Figures that are reported about measured candidates.
 *
 * @module
 */

import type { Round } from '../load/interleave.ts';
import { summarize } from '../load/statistics.ts';
import { type Finding, judge, type Measured } from './report.ts';

const MB = 1_000_000;

/** Ratios of the rounds that stand side by side, because a machine's pace changes with time. */
function ratios(one: Measured, other: Measured, key: keyof Round): readonly number[] {
  return one.rounds.map((round, index) => round[key] / (other.rounds[index]?.[key] ?? Number.NaN));
}

/** How many times the rate of another. */
export function rateFinding(one: Measured, other: Measured, wanted?: number): Finding {
  const text = `rate of ${one.name}, in rates of ${other.name}`;
  const value = summarize(ratios(one, other, 'requestsPerSecond'));
  return wanted === undefined
    ? { text, unit: 'x', value }
    : judge(text, 'x', value, 'at least', wanted);
}

/** How much is done in the same processor time, compared with another. */
export function workFinding(one: Measured, other: Measured, wanted?: number): Finding {
  const text = `requests for each second of processor time, ${one.name}, in those of ${other.name}`;
  const value = summarize(ratios(other, one, 'cpuMicroseconds'));
  return wanted === undefined
    ? { text, unit: 'x', value }
    : judge(text, 'x', value, 'at least', wanted);
}

/** What is left of how one compares with another by {@link workFinding} when the load is another one. */
export function keptWorkFinding(
  [one, other]: readonly [Measured, Measured],
  [before, otherBefore]: readonly [Measured, Measured],
  wanted: number,
): Finding {
  const earlier = ratios(otherBefore, before, 'cpuMicroseconds');
  const kept = ratios(other, one, 'cpuMicroseconds').map(
    (ratio, index) => ratio / (earlier[index] ?? Number.NaN),
  );
  const text = `ratio of ${one.name} to ${other.name} in processor time, in that of ${before.name} to ${otherBefore.name}`;
  return judge(text, 'x', summarize(kept), 'at least', wanted);
}

/** A rate as it is. */
export function rateAloneFinding({ name, requestsPerSecond }: Measured, wanted: number): Finding {
  return judge(`rate of ${name}`, '/s', requestsPerSecond, 'at least', wanted);
}

/** The slowest hundredth, compared with that of another. @param wanted - What it has to be below. */
export function p99Finding(one: Measured, other: Measured, wanted?: number): Finding {
  const text = `p99 of ${one.name}, in p99s of ${other.name}`;
  const value = summarize(ratios(one, other, 'p99'));
  return wanted === undefined
    ? { text, unit: 'x', value }
    : judge(text, 'x', value, 'below', wanted);
}

/** Memory of the largest process after the run. */
export function memoryFinding(one: Measured, wantedMb: number): Finding {
  const value = summarize([one.largestBytes / MB]);
  return judge(
    `memory (RSS) of a process of ${one.name} after the run`,
    'MB',
    value,
    'at most',
    wantedMb,
  );
}
