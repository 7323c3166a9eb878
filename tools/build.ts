/**
 * `npm run build`: makes what is published, below dist/ or the folder of `--out`; `--pack` adds the tarballs,
 * with an SBOM for each and the digests of all.
 *
 * `dist/packages/cli` is the command as npm installs it: `node dist/packages/cli/bin/sallyport.js`.
 *
 * @module
 */

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildCommand } from './build/build-command.ts';
import { buildLibraries } from './build/build-libraries.ts';
import { readGitHead } from './build/git-head.ts';
import { OUTPUT } from './build/layout.ts';
import { packPackages } from './build/pack.ts';
import { readOptions } from './command-line/usage.ts';

const values = readOptions('usage: npm run build -- [--pack] [--out FOLDER]', {
  out: { type: 'string' },
  pack: { type: 'boolean' },
});
const output = resolve(values.out ?? OUTPUT);
mkdirSync(output, { recursive: true });
const gitHead = readGitHead();
await buildCommand(output, gitHead);
buildLibraries(output, gitHead);
console.log(`built from ${gitHead ?? 'an unknown commit'}`);
if (values.pack === true)
  for (const { filename, size, files } of packPackages(output))
    console.log(`${filename}: ${files.length} files, ${(size / 1_000_000).toFixed(2)} MB`);
