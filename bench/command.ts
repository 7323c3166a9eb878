/**
 * The command `npm run bench`: measurements side by side, in one interleaved run.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { CASES } from './cases.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { findParts } from './parts.ts';
import { pinSelf } from './process/pinned.ts';
import { renderChart } from './report/chart.ts';
import { describeEnvironment } from './report/environment.ts';
import { renderPage } from './report/page.ts';
import type { Report } from './report/report.ts';
import { renderTable } from './report/table.ts';
import { runCases } from './run-cases.ts';
import { OBSERVED } from './servers/sallyport.ts';

const DOCS = new URL('../docs/', import.meta.url).pathname;

/** Where the command writes lines. */
type Lines = Pick<Console, 'log' | 'error'>;

/**
 * Runs the command.
 *
 * @returns Its exit code: 2 for options it refuses, 1 when a case failed.
 */
export async function runCommand(args: readonly string[], lines: Lines): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(args);
    const unknown = options.cases.find((name) => !CASES.some((each) => each.name === name));
    if (unknown !== undefined) throw new TypeError(`there is no case ${unknown}`);
    if (!options.isHelp && options.from === undefined && cpus().length < 2)
      throw new TypeError('two cores are needed: one for servers, one for the load');
  } catch (problem) {
    lines.error(`${problem instanceof Error ? problem.message : ''}\n\n${describeUsage()}`);
    return 2;
  }
  if (options.isHelp) {
    lines.log(describeUsage());
    return 0;
  }
  const report = options.from === undefined ? await measure(options, lines) : read(options.from);
  lines.log(renderTable(report));
  if (options.json !== undefined) writeFileSync(options.json, toJson(report));
  if (options.docs) {
    writeFileSync(`${DOCS}benchmarks.json`, toJson(report));
    writeFileSync(`${DOCS}benchmarks.svg`, renderChart(report));
    writeFileSync(`${DOCS}benchmarks.md`, renderPage(report));
  }
  return report.cases.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

function describeUsage(): string {
  const names = CASES.map(({ name, title }) => `  ${name.padEnd(20)}${title}`);
  return `${USAGE}\n\ncases:\n${names.join('\n')}`;
}

async function measure(options: Options, lines: Lines): Promise<Report> {
  const at = new Date().toISOString();
  const { cases: names, plan, peer, peerVersion } = options;
  const parts = findParts(peer);
  const environment = describeEnvironment(parts, peerVersion);
  pinSelf();
  const chosen = CASES.filter(({ name }) => names.length === 0 || names.includes(name));
  const { cases, leftOut } = await runCases(chosen, options, parts, (line) => lines.error(line));
  return {
    format: 1,
    at,
    command: toCommand(options),
    ...plan,
    environment,
    observed: OBSERVED,
    cases,
    leftOut,
  };
}

/** The command to run it again, without what concerns one machine alone. */
function toCommand({ cases, plan }: Options): string {
  const words = [...cases, `--rounds ${plan.rounds}`, `--seconds ${plan.seconds}`];
  return `npm run bench -- ${words.join(' ')}`;
}

function read(file: string): Report {
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  if (report.format !== 1) throw new TypeError(`${file} is no report of this version`);
  return report;
}

function toJson(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
