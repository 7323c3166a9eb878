/**
 * A report as text for a terminal.
 *
 * @module
 */

import { FINDING_COLUMNS, formatFinding, formatMeasured, MEASURED_COLUMNS } from './format.ts';
import type { CaseReport, Report } from './report.ts';

/** All of it. */
export function renderTable(report: Report): string {
  const { environment, observed, rounds, seconds, connections, cases, leftOut } = report;
  const versions = Object.entries(environment.versions).map(
    ([name, version]) => `${name} ${version}`,
  );
  return [
    `${environment.cpu}, ${environment.cores} cores, ${environment.kernel}; ${versions.join(', ')}`,
    `${rounds} rounds of ${seconds} s in turn, ${connections} connections, servers on one core, load on another`,
    observed,
    '',
    ...cases.flatMap(renderCase),
    ...leftOut.map((what) => `left out: ${what}`),
    '',
  ].join('\n');
}

function renderCase({
  name,
  title,
  notes,
  measured,
  findings,
  failure,
}: CaseReport): readonly string[] {
  const lines = [`${name}: ${title}`];
  if (measured.length > 0)
    lines.push(...align([MEASURED_COLUMNS, ...measured.map(formatMeasured)]));
  if (findings.length > 0)
    lines.push('', ...align([FINDING_COLUMNS, ...findings.map(formatFinding)]));
  for (const note of notes) lines.push(`  ${note}`);
  if (failure !== undefined) lines.push(`  FAILED: ${failure}`);
  return [...lines, ''];
}

/** The first column to the left, numbers to the right. */
function align(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `  ${cells.join('  ').trimEnd()}`;
  });
}
