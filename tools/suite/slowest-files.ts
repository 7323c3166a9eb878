/**
 * Prints the ten files of a test run that took longest, after what the other reporters print.
 *
 * @module
 */

import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const COUNT = 10;

/** A file and what its tests and hooks took. */
export interface TimedFile {
  readonly project: string;
  readonly path: string;
  readonly durationMs: number;
}

/** Loaded by Vitest by its path, which takes the default export alone. */
export default class SlowestFiles implements Reporter {
  #root = '';

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      project: module.project.name,
      path: relative(this.#root, module.moduleId),
      durationMs: durationOf(module),
    }));
    const lines = formatSlowest(files);
    if (lines.length > 0) console.log(`\n${lines.join('\n')}\n`);
  }
}

/** A heading and a line for each of the slowest, slowest first; nothing for a run of one file. */
export function formatSlowest(files: readonly TimedFile[]): readonly string[] {
  if (files.length < 2) return [];
  const slowest = files.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, COUNT);
  const all = files.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return [
    `The slowest of ${files.length} files, which took ${inSeconds(all)} together:`,
    ...slowest.map(
      ({ project, path, durationMs }) =>
        `${inSeconds(durationMs).padStart(9)}  ${project}  ${path}`,
    ),
  ];
}

/** Its imports, hooks and tests. */
function durationOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return collectDuration + setupDuration + duration;
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
