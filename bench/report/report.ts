/**
 * What a run found: the one document that table, chart and page are made from.
 *
 * @module
 */

import type { Round } from '../load/interleave.ts';
import type { Summary } from '../load/statistics.ts';

/** One side of a comparison, measured. */
export interface Measured {
  readonly name: string;
  readonly rounds: readonly Round[];
  readonly requestsPerSecond: Summary;
  /** Milliseconds. */
  readonly p50: Summary;
  readonly p99: Summary;
  readonly cpuMicroseconds: Summary;
  /** After the last round, of all its processes, and of the largest. */
  readonly rssBytes: number;
  readonly largestBytes: number;
}

/** How a figure has to stand to what is wanted. */
export type Relation = 'at least' | 'at most' | 'below';

/** A figure a case is run for. */
export interface Finding {
  /** Such as `rate, of bare node:http`. */
  readonly text: string;
  /** Put after the number: `x`, `ms`, `MB`, `/s`. */
  readonly unit: string;
  readonly value: Summary;
  /** Absent: the value is only reported, not compared. */
  readonly wanted?: {
    readonly relation: Relation;
    readonly value: number;
    readonly isMet: boolean;
  };
}

/** What one case found. */
export interface CaseReport {
  readonly name: string;
  readonly title: string;
  /** What a reader has to know to judge the numbers. */
  readonly notes: readonly string[];
  readonly measured: readonly Measured[];
  /** `false` where rates are not what counts; the chart then leaves them out. */
  readonly hasRatesToShow?: boolean;
  readonly findings: readonly Finding[];
  /** Why there are no numbers, where there are none. */
  readonly failure?: string;
}

/** What was run where. */
export interface Environment {
  /** Names and versions of programs, in the order to show them. */
  readonly versions: Readonly<Record<string, string>>;
  readonly cpu: string;
  readonly cores: number;
  readonly kernel: string;
}

/** A whole run. */
export interface Report {
  readonly format: 1;
  /** ISO 8601, when it began. */
  readonly at: string;
  readonly command: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly environment: Environment;
  /** How Sallyport was set up in every row. */
  readonly observed: string;
  readonly cases: readonly CaseReport[];
  /** What was not measured, and why. */
  readonly leftOut: readonly string[];
}

/** Judges a figure. Its middle counts, not its best round. */
export function judge(
  text: string,
  unit: string,
  value: Summary,
  relation: Relation,
  wanted: number,
): Finding {
  const { median } = value;
  const isMet =
    relation === 'at least'
      ? median >= wanted
      : relation === 'at most'
        ? median <= wanted
        : median < wanted;
  return { text, unit, value, wanted: { relation, value: wanted, isMet } };
}
