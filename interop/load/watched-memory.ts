/**
 * The memory and processor time of a process while it works.
 *
 * @module
 */

import { type Usage, usageOf } from '../../bench/process/usage.ts';

/** A process that is looked at. */
export interface WatchedProcess {
  /** What was seen so far, once a second, oldest first. */
  readonly seen: readonly Usage[];
  stop(): void;
}

const EVERY_MS = 1_000;

/** Looks at a process, and at all it has started, once a second. */
export function watchProcess(pid: number): WatchedProcess {
  const seen: Usage[] = [];
  const timer = setInterval(() => seen.push(usageOf([pid])), EVERY_MS);
  return { seen, stop: () => clearInterval(timer) };
}

/** More values than these are put together in so many parts, each with its median. */
const PARTS_MAX = 300;

/**
 * How much values grow from the first to the last, by the median of the slopes between all of them (Theil-Sen): a
 * collection of garbage and a moment in which other programs disturb do not count.
 *
 * @param values - In equal distances.
 */
export function growthOf(values: readonly number[]): number {
  const count = Math.min(values.length, PARTS_MAX);
  const each = values.length / count;
  const parts = Array.from({ length: count }, (_, n) =>
    medianOf(values.slice(n * each, (n + 1) * each)),
  );
  const slopes = parts.flatMap((from, n) =>
    parts.slice(n + 1).map((to, distance) => (to - from) / (distance + 1)),
  );
  return (medianOf(slopes) * (values.length - 1)) / each;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
