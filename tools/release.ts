/**
 * `npm run release -- --dry-run`: makes everything that a release publishes, and publishes nothing.
 *
 * @module
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildCommand } from './build/build-command.ts';
import { buildLibraries } from './build/build-libraries.ts';
import { readGitHead } from './build/git-head.ts';
import { CHECKOUT, OUTPUT, PUBLISHED_FOLDERS, readManifest } from './build/layout.ts';
import { packPackages, TARBALLS } from './build/pack.ts';
import { findReleaseProblems } from './build/release-problems.ts';
import { readOptions } from './command-line/usage.ts';

const USAGE = `usage: npm run release -- --dry-run [--out FOLDER]

Tests, builds and packs, writes SBOMs and SHA-256 sums, and says what would be published. Publishing itself is
the work of a trusted publisher: see docs/releasing.md.`;

const values = readOptions(USAGE, {
  'dry-run': { type: 'boolean' },
  out: { type: 'string' },
});
if (values['dry-run'] === true) {
  const isReady = await rehearse(resolve(values.out ?? OUTPUT));
  if (!isReady) process.exitCode = 1;
} else {
  console.error(USAGE);
  process.exitCode = 2;
}

/** @returns Whether the tests passed; nothing is packed when they did not. */
async function rehearse(output: string): Promise<boolean> {
  mkdirSync(output, { recursive: true });
  const folder = join(output, TARBALLS);
  // What an earlier rehearsal packed would be taken for this one's.
  rmSync(folder, { recursive: true, force: true });
  const gitHead = readGitHead();
  const manifests = PUBLISHED_FOLDERS.map(readManifest);
  for (const script of ['test', 'test:deployment']) {
    const { status, signal, error } = spawnSync('npm', ['run', script], {
      cwd: CHECKOUT,
      stdio: 'inherit',
      // A part that is not installed is a failure then, and no test is left out.
      env: { ...process.env, CI: 'true' },
    });
    if (status !== 0) {
      const how = error === undefined ? `ended with ${status ?? signal}` : error.message;
      console.error(`would publish nothing: npm run ${script} ${how}`);
      return false;
    }
  }
  await buildCommand(output, gitHead);
  buildLibraries(output, gitHead);
  const tarballs = packPackages(output);
  for (const { name, version, size, files } of tarballs)
    console.log(`would publish ${name}@${version}: ${files.length} files, ${size} bytes`);
  console.log(`built from ${gitHead ?? 'an unknown commit'}; everything is in ${folder}`);
  const changelog = readFileSync(join(CHECKOUT, 'CHANGELOG.md'), 'utf8');
  for (const problem of findReleaseProblems({ manifests, changelog, gitHead }))
    console.log(`would refuse: ${problem}`);
  return true;
}
