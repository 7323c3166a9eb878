/**
 * Numbers as people read them.
 *
 * @module
 */

import type { Summary } from '../load/statistics.ts';
import type { Finding, Measured } from './report.ts';

const MB = 1_000_000;

/** A number with as many digits as say something. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** The spread; empty where there is none. */
function formatSpread({ least, most }: Summary): string {
  return least === most ? '' : `${formatNumber(least)} to ${formatNumber(most)}`;
}

/** Columns of {@link formatMeasured}. */
export const MEASURED_COLUMNS: readonly string[] = [
  '',
  'requests/s',
  'least to most',
  'p50 ms',
  'p99 ms',
  'CPU us each',
  'RSS MB',
];

/** A candidate as a row. */
export function formatMeasured(measured: Measured): readonly string[] {
  const { name, requestsPerSecond, p50, p99, cpuMicroseconds, rssBytes } = measured;
  return [
    name,
    formatNumber(requestsPerSecond.median),
    formatSpread(requestsPerSecond),
    ...[p50, p99, cpuMicroseconds].map(({ median }) => formatNumber(median)),
    formatNumber(rssBytes / MB),
  ];
}

/** Columns of {@link formatFinding}. */
export const FINDING_COLUMNS: readonly string[] = ['', 'found', 'least to most', 'wanted', ''];

/** A figure as a row. */
export function formatFinding({ text, unit, value, wanted }: Finding): readonly string[] {
  const found = `${formatNumber(value.median)} ${unit}`;
  if (wanted === undefined) return [text, found, formatSpread(value), '', ''];
  const { relation, isMet } = wanted;
  return [
    text,
    found,
    formatSpread(value),
    `${relation} ${formatNumber(wanted.value)} ${unit}`,
    isMet ? 'met' : 'NOT MET',
  ];
}
