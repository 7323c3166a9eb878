/**
 * A diagnosis for people: what is wrong first, then what was looked at.
 *
 * @module
 */

import type { Diagnosis, PlacedFinding } from '../diagnosis.ts';
import type { ProbeResult } from '../graph/run-probes.ts';
import { linkTo } from './to-json.ts';

/** Marks of findings and probes, the same width. */
const MARKS: Readonly<Record<ProbeResult['status'], string>> = {
  ok: 'ok  ',
  warn: 'warn',
  fail: 'FAIL',
  skip: 'skip',
};
const INDENT = '      ';

/** Writes lines without colours. Every text in them is printable already. */
export function formatText({ findings, probes }: Diagnosis): readonly string[] {
  const width = Math.max(0, ...probes.map(({ id }) => id.length));
  return [
    ...findings.flatMap((finding) => [...formatFinding(finding), '']),
    ...probes.map(
      ({ id, status, title, why }) =>
        `${MARKS[status]}  ${id.padEnd(width)}  ${why === '' ? title : `${title}: ${why}`}`,
    ),
    '',
    summarize({ findings, probes }),
  ];
}

function formatFinding({ severity, what, evidence, fix, code }: PlacedFinding): readonly string[] {
  return [
    `${MARKS[severity]}  ${what}`,
    ...evidence.map((line) => `${INDENT}${line}`),
    `${INDENT}Fix: ${fix}`,
    `${INDENT}See: ${linkTo(code)}`,
  ];
}

function summarize({ findings, probes }: Diagnosis): string {
  const fails = findings.filter(({ severity }) => severity === 'fail').length;
  const warns = findings.length - fails;
  const count = (status: ProbeResult['status']): number =>
    probes.filter((probe) => probe.status === status).length;
  const looked = `${count('ok')} probes are well, ${count('skip')} were left out`;
  if (findings.length === 0) return `Nothing is wrong: ${looked}.`;
  const wrong = `${fails} ${fails === 1 ? 'fault' : 'faults'}, ${warns} ${warns === 1 ? 'warning' : 'warnings'}`;
  return `${wrong}; ${looked}.`;
}
