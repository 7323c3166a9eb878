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

/** How much values grow from the first to the last, by the straight line that fits them best. */
export function growthOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [covariance, variance] = [0, 0];
  for (const [index, value] of values.entries()) {
    covariance += (index - middle) * (value - mean);
    variance += (index - middle) ** 2;
  }
  return (covariance / variance) * (values.length - 1);
}
