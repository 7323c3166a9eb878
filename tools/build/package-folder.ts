/**
 * The folder that a package is packed from.
 *
 * @module
 */

import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from './layout.ts';
import type { PackedManifest } from './packed-manifest.ts';

/** Makes it empty but for the documents that each package carries. @returns Its path. */
export function preparePackageFolder(output: string, name: string): string {
  const folder = join(output, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const document of ['LICENSE', 'CHANGELOG.md'])
    cpSync(join(CHECKOUT, document), join(folder, document));
  const readme = join(CHECKOUT, name, 'README.md');
  if (existsSync(readme)) cpSync(readme, join(folder, 'README.md'));
  return folder;
}

/** Writes its package.json. */
export function writeManifest(folder: string, manifest: PackedManifest): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}
