/**
 * Runs named tests in a tree, in a process of their own.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { titlePattern } from './mutant-table.ts';

/** What came of a run. */
export interface TestRun {
  /** Tests of the titles asked for, without those of their describe blocks. */
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** A file that could not be loaded, or a run that took too long: nothing is known of its tests. */
  readonly trouble: string | undefined;
}

/** What the JSON report says, as far as it is read. */
interface Report {
  readonly testResults: readonly {
    readonly message?: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** A mutant may wait for ever; its tests have limits of their own, which this is above. */
const RUN_LIMIT_MS = 300_000;

/**
 * Runs the tests of these titles in these files, and no others.
 *
 * @param root - The tree; its files are read afresh.
 */
export async function runTests(
  root: string,
  tests: readonly { readonly file: string; readonly title: string }[],
): Promise<TestRun> {
  const report = join(root, 'mutate-report.json');
  rmSync(report, { force: true });
  const files = [...new Set(tests.map(({ file }) => file))];
  const titles = tests.map(({ title }) => titlePattern(title)).join('|');
  const isOver = await vitest(root, [
    ...files,
    '--testNamePattern',
    titles,
    '--maxWorkers=1',
    '--reporter=json',
    `--outputFile=${report}`,
  ]);
  if (!isOver) return { passed: [], failed: [], trouble: 'took too long' };
  return readReport(report);
}

function readReport(path: string): TestRun {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch {
    return { passed: [], failed: [], trouble: 'wrote no report' };
  }
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const of = (status: string) =>
    tests.filter((test) => test.status === status).map(({ title }) => title);
  const message = report.testResults.map(({ message = '' }) => message).find((text) => text !== '');
  return {
    passed: of('passed'),
    failed: of('failed'),
    trouble: of('failed').length > 0 ? undefined : message?.split('\n')[0],
  };
}

/** Whether it came to its end. */
function vitest(root: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('npx', ['--no-install', 'vitest', 'run', ...args], {
      cwd: root,
      stdio: 'ignore',
      // One's own process group, so that whatever the tests started ends with it.
      detached: true,
    });
    const limit = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, RUN_LIMIT_MS);
    child.once('error', reject);
    child.once('exit', (_code, signal) => {
      clearTimeout(limit);
      resolve(signal !== 'SIGKILL');
    });
  });
}
