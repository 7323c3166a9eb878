/**
 * A diagnosis for people: what is wrong first, then what was looked at.
 *
 * @module
 */

import type { Diagnosis, PlacedFinding } from '../diagnosis.ts';
import type { ProbeResult } from '../graph/run-probes.ts';

/** Marks of findings and probes, the same width. */
const MARKS: Readonly<Record<ProbeResult['status'], string>> = {
  ok: 'ok  ',
  warn: 'warn',
  fail: 'FAIL',
  skip: 'skip',
};
const INDENT = '      ';

/** Writes lines without colours: findings, then a line for each group. Every text in them is printable already. */
export function formatText({ findings, probes }: Diagnosis): readonly string[] {
  const groups = [...new Set(probes.map(({ group }) => group))];
  const width = Math.max(0, ...groups.map((group) => group.length));
  return [
    ...findings.flatMap((finding) => [...formatFinding(finding), '']),
    ...groups.flatMap((group) =>
      formatGroup(
        group.padEnd(width),
        probes.filter((probe) => probe.group === group),
      ),
    ),
    '',
    summarize({ findings, probes }),
  ];
}

/** What is well as a number, the rest by name; what was skipped for one reason together. */
function formatGroup(name: string, probes: readonly ProbeResult[]): readonly string[] {
  const well = probes.filter(({ status }) => status === 'ok').length;
  const reasons = [...new Set(probes.flatMap(({ why }) => (why === '' ? [] : [why])))];
  const named = (status: 'fail' | 'warn'): readonly string[] =>
    probes.flatMap((probe) =>
      probe.status === status ? [`${MARKS[status]}  ${name}  ${probe.title} (${probe.id})`] : [],
    );
  return [
    ...(well === 0 ? [] : [`${MARKS.ok}  ${name}  ${count(well, 'check')} passed`]),
    ...named('fail'),
    ...named('warn'),
    ...reasons.map(
      (reason) =>
        `${MARKS.skip}  ${name}  ${count(probes.filter(({ why }) => why === reason).length, 'check')}: ${reason}`,
    ),
  ];
}

function formatFinding({ severity, what, evidence, fix, code }: PlacedFinding): readonly string[] {
  return [
    `${MARKS[severity]}  ${what}`,
    ...evidence.map((line) => `${INDENT}${line}`),
    `${INDENT}Fix: ${fix}`,
    `${INDENT}See: docs/doctor.md#${code}`,
  ];
}

function summarize({ findings, probes }: Diagnosis): string {
  const fails = findings.filter(({ severity }) => severity === 'fail').length;
  const warns = findings.length - fails;
  const well = probes.filter(({ status }) => status === 'ok').length;
  const skips = probes.filter(({ status }) => status === 'skip').length;
  const looked = `${count(well, 'check')} passed, ${skips} skipped`;
  if (findings.length > 0)
    return `${count(fails, 'fault')}, ${count(warns, 'warning')}; ${looked}.`;
  const untried = countUntried(probes);
  return untried === 0
    ? `Nothing is wrong: ${looked}.`
    : `No fault found, but ${count(untried, 'credential')} ${untried === 1 ? 'was' : 'were'} not tried: ${looked}.`;
}

/** Secrets that were read, and that no identity provider was asked about. */
function countUntried(probes: readonly ProbeResult[]): number {
  const tried = new Set(probes.flatMap(({ id, status }) => (status === 'skip' ? [] : [id])));
  return probes.filter(({ id, group }) => {
    const [, use] = /^secrets\.(web|client\.\d+)$/.exec(id) ?? [];
    return group === 'secrets' && use !== undefined && !tried.has(`grants.${use}`);
  }).length;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
