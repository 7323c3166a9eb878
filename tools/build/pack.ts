/**
 * Tarballs of the published packages, with what describes them.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommitTime } from './git-head.ts';
import { PUBLISHED_FOLDERS, readManifest } from './layout.ts';
import { makeBom } from './sbom.ts';

/** A packed package, as npm describes it. */
export interface Tarball {
  readonly name: string;
  readonly version: string;
  /** Name of the file in the folder of tarballs. */
  readonly filename: string;
  /** Bytes, packed. */
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** Folder of the tarballs below the output. */
export const TARBALLS = 'tarballs';

/** Digests of all files beside it, as `sha256sum --check` reads them. */
const SUMS = 'SHA256SUMS';

/**
 * Packs what was built below `output`, and writes a bill of materials for each tarball and the digests of all of that.
 * npm gives every entry the same time, so equal files make equal tarballs.
 */
export function packPackages(output: string): readonly Tarball[] {
  const folder = join(output, TARBALLS);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const commitTime = readCommitTime();
  const tarballs = PUBLISHED_FOLDERS.map((name) => {
    const tarball = pack(join(output, name), folder);
    const bom = tarball.filename.replace(/\.tgz$/, '.cdx.json');
    writeFileSync(join(folder, bom), makeBom(readManifest(name), commitTime));
    return tarball;
  });
  const lines = readdirSync(folder)
    .toSorted()
    .map((name) => {
      const digest = createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex');
      return `${digest}  ${name}\n`;
    });
  writeFileSync(join(folder, SUMS), lines.join(''));
  return tarballs;
}

function pack(folder: string, destination: string): Tarball {
  const said = execFileSync(
    'npm',
    ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', destination],
    { cwd: destination, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const parsed = JSON.parse(said) as readonly Tarball[] | Readonly<Record<string, Tarball>>;
  const [tarball] = Array.isArray(parsed) ? parsed : Object.values(parsed);
  if (tarball === undefined) throw new Error(`npm packed nothing from ${folder}`);
  return tarball as Tarball;
}
