import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from './wire/process.ts';

const ROOT = new URL('..', import.meta.url).pathname;

/** A function of that many lines. */
const functionOf = (count: number) =>
  `export function planted(): void {\n${'  planted();\n'.repeat(count - 2)}}\n`;
/** A file that imports that many others. */
const importsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => `export { a as a${at} } from './a${at}.ts';\n`)
    .join('')
    .replaceAll('export {', 'import {');

const PLANTED: Readonly<Record<string, string>> = {
  'function_121.ts': functionOf(121),
  'function_120.ts': functionOf(120),
  'imports_26.ts': importsOf(26),
  'imports_25.ts': importsOf(25),
};

describe('The linter', () => {
  let report: readonly string[];

  beforeAll(() => {
    const folder = temporaryFolder();
    const source = join(folder.path, 'packages/server/src');
    mkdirSync(source, { recursive: true });
    copyFileSync(join(ROOT, '.oxlintrc.json'), join(folder.path, '.oxlintrc.json'));
    for (const [name, text] of Object.entries(PLANTED)) writeFileSync(join(source, name), text);
    report = spawnSync(join(ROOT, 'node_modules/.bin/oxlint'), ['-f', 'unix'], {
      cwd: folder.path,
      encoding: 'utf8',
    }).stdout.split('\n');
    folder.remove();
  });

  const isReported = (name: string, rule: string) =>
    report.some((line) => line.includes(name) && line.includes(rule));

  it('refuses a function of more than 120 lines', () => {
    expect(isReported('function_121.ts', 'max-lines-per-function')).toBe(true);
    expect(isReported('function_120.ts', 'max-lines-per-function')).toBe(false);
  });

  it('refuses a file that imports more than 25 others', () => {
    expect(isReported('imports_26.ts', 'max-dependencies')).toBe(true);
    expect(isReported('imports_25.ts', 'max-dependencies')).toBe(false);
  });
});
