/**
 * A report as the page docs/benchmarks.md.
 *
 * @module
 */

import { ROUNDS_LEAST } from '../options.ts';
import { FINDING_COLUMNS, formatFinding, formatMeasured, MEASURED_COLUMNS } from './format.ts';
import type { CaseReport, Report } from './report.ts';

/** Draws up the page; the chart and the report lie beside it. */
export function renderPage(report: Report): string {
  const { at, command, environment, observed, rounds, seconds, connections, cases, leftOut } =
    report;
  const { versions, cpu, cores, kernel } = environment;
  const findings = cases.flatMap(({ name, findings: all }) =>
    all.map((finding) => [`[${name}](#${name})`, ...formatFinding(finding)]),
  );
  const wanted = findings.filter((row) => row.at(-1) !== '');
  return `${[
    '# Benchmarks',
    '',
    `Compare Sallyport with bare \`node:http\`, nginx and oauth2-proxy. Made by \`npm run bench\`: numbers are medians of ${rounds} rounds,`,
    'ratios medians of the ratios of interleaved rounds. Targets that are not met stay in the table. The whole report is in',
    '[benchmarks.json](benchmarks.json); [performance.md](performance.md) explains the figures.',
    ...(rounds < ROUNDS_LEAST
      ? [
          '',
          `**A short run: fewer than ${ROUNDS_LEAST} rounds say whether it works, and not how fast it is.**`,
        ]
      : []),
    '',
    '![Requests a second on one core, by case](benchmarks.svg)',
    '',
    '## Wanted and found',
    '',
    `One interleaved run; Sallyport with ${observed}.`,
    '',
    ...table(['case', ...FINDING_COLUMNS], wanted),
    '',
    '## How it was measured',
    '',
    ...table(
      ['', ''],
      [
        ['When', at.slice(0, 10)],
        ['Command', `\`${command}\``],
        ['Processor', `${cpu}, ${cores} cores`],
        ['System', kernel],
        ...Object.entries(versions),
        ['Load', `wrk, one thread, ${connections} connections, ${seconds} s a load`],
        ['Sallyport', observed],
      ],
    ),
    '',
    '- Every candidate runs on core 0 with all its processes; wrk, the identity provider, Redis and backends run on core 1.',
    `- Candidates take turns: one round to warm up, then ${rounds} rounds in which each is loaded once. The slowest and the fastest`,
    '  round are given beside the median.',
    '- Every load counts refusals, broken connections and bytes; one answer of each kind is looked at before and after it. A load',
    '  with anything else than what had to come ends the case.',
    '- CPU is the processor time, user and system, of all processes of a candidate, by request: nginx and workers included, Redis',
    '  and backends not. RSS is the memory of all its processes after the last load.',
    '- oauth2-proxy runs as well as it can for this: without logs, with as many threads as it has cores, over connections that',
    '  stay open. Its cookie keeps the tokens that renewing a session takes, as Sallyport keeps them. What each of its flags is for',
    '  stands in `bench/servers/oauth2-proxy.ts`.',
    ...leftOut.map((what) => `- Left out: ${what}.`),
    ...cases.flatMap(renderCase),
  ].join('\n')}\n`;
}

function renderCase({
  name,
  title,
  notes,
  measured,
  findings,
  failure,
}: CaseReport): readonly string[] {
  return [
    '',
    `## ${name}`,
    '',
    `${title}.${notes.map((note) => ` ${note}`).join('')}`,
    ...(measured.length === 0
      ? []
      : ['', ...table(MEASURED_COLUMNS, measured.map(formatMeasured))]),
    ...(findings.length === 0 ? [] : ['', ...table(FINDING_COLUMNS, findings.map(formatFinding))]),
    ...(failure === undefined ? [] : ['', `Not measured: ${failure}`]),
  ];
}

/** Cells are text of our own, in which a bar cannot occur but in a program's name. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [line(head), `|${rule.map((each) => `${each}|`).join('')}`, ...rows.map(line)];
}
