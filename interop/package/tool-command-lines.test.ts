import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const CHECKOUT = new URL('../..', import.meta.url).pathname;

/** Runs a tool of the repository as `npm run` does. */
function runTool(tool: string, ...args: readonly string[]) {
  const file = join(CHECKOUT, 'tools', `${tool}.ts`);
  return spawnSync(process.execPath, [file, ...args], { cwd: CHECKOUT, encoding: 'utf8' });
}

describe('A tool of the repository', () => {
  it.each([
    ['image --bogus', "Unknown option '--bogus'"],
    ['image word', "Unexpected argument 'word'"],
    ['image --arch mips', '--arch: one of amd64, arm64'],
    ['image --tarball nope.tgz', 'nope.tgz is missing'],
    ['image --tarball package.json --root nope.tar', 'nope.tar is missing'],
    ['image --tarball package.json --base docker-archive:nope.tar', 'nope.tar is missing'],
    ['build --pakc', "Unknown option '--pakc'"],
    ['release --bogus', "Unknown option '--bogus'"],
  ])('answers "%s" with a sentence and its usage, with code 2', (line, words) => {
    const [tool = '', ...args] = line.split(' ');
    const { status, stdout, stderr } = runTool(tool, ...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
    expect(stderr).toContain(`usage: npm run ${tool} -- `);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each(['image', 'build', 'release'])('prints the usage of %s for --help', (tool) => {
    const { status, stdout, stderr } = runTool(tool, '--help');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`usage: npm run ${tool} -- `);
  });
});
