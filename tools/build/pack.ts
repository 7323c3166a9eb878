/**
 * Tarballs of the published packages.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PUBLISHED_FOLDERS } from './layout.ts';

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

/** Packs what was built below `output`. npm gives every entry the same time, so equal files make equal tarballs. */
export function packPackages(output: string): readonly Tarball[] {
  const destination = join(output, TARBALLS);
  rmSync(destination, { recursive: true, force: true });
  mkdirSync(destination);
  return PUBLISHED_FOLDERS.map((name) => {
    const folder = join(output, name);
    const said = execFileSync(
      'npm',
      ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', destination],
      { cwd: output, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const parsed = JSON.parse(said) as readonly Tarball[] | Readonly<Record<string, Tarball>>;
    const [tarball] = Array.isArray(parsed) ? parsed : Object.values(parsed);
    if (tarball === undefined) throw new Error(`npm packed nothing from ${name}`);
    return tarball as Tarball;
  });
}
