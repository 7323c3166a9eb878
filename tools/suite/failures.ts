/**
 * Writes what failed in a test run into the file that `FAILURES_FILE` names: the end of a long output is what people
 * are shown first, and `.ci/run` prints the file there.
 *
 * Lists failed tests, hooks and files, and errors outside of any test. Without the variable, it writes nothing.
 *
 * @module
 */

import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const MESSAGE_LENGTH = 300;

/** A test, a suite or a file that failed. */
export interface Failure {
  readonly project: string;
  readonly path: string;
  /** Titles from the outermost suite to the test; empty for a file. */
  readonly title: string;
  readonly errors: readonly { readonly message: string }[];
}

/** Loaded by Vitest by its path, which takes the default export alone. */
export default class Failures implements Reporter {
  #root = '';

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly { readonly message: string }[],
  ): void {
    const file = process.env['FAILURES_FILE'];
    if (file === undefined) return;
    const failures = modules.flatMap((module) => this.#failuresOf(module));
    const lines = formatFailures(failures, unhandledErrors);
    if (lines.length > 0) appendFileSync(file, `${lines.join('\n')}\n`);
  }

  #failuresOf(module: TestModule): readonly Failure[] {
    const file = { project: module.project.name, path: relative(this.#root, module.moduleId) };
    const suites = [...module.children.allSuites()].map((suite) => ({
      title: suite.fullName,
      errors: suite.errors(),
    }));
    const tests = [...module.children.allTests('failed')].map((test) => ({
      title: test.fullName,
      errors: test.result().errors ?? [],
    }));
    const inParts = [{ title: '', errors: module.errors() }, ...suites].filter(
      ({ errors }) => errors.length > 0,
    );
    return [...inParts, ...tests].map((part) => ({ ...file, ...part }));
  }
}

/** A line with the place and one with the first error's first line for each; nothing when nothing failed. */
export function formatFailures(
  failures: readonly Failure[],
  unhandledErrors: readonly { readonly message: string }[],
): readonly string[] {
  return [
    ...failures.flatMap(({ project, path, title, errors }) => [
      `failed: ${[project, path, ...(title === '' ? [] : [title])].join('  ')}`,
      ...describe(errors[0]),
    ]),
    ...unhandledErrors.flatMap((error) => ['failed: outside of any test', ...describe(error)]),
  ];
}

function describe(error: { readonly message: string } | undefined): readonly string[] {
  const [line = ''] = error?.message.trim().split('\n') ?? [];
  return line === '' ? [] : [`  ${line.slice(0, MESSAGE_LENGTH)}`];
}
