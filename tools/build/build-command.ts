/**
 * The package `sallyport` as npm installs it.
 *
 * @module
 */

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCommand } from './bundle-command.ts';
import { CHECKOUT, COMMAND_FOLDER } from './layout.ts';
import { type Manifest, packCommandManifest } from './packed-manifest.ts';

/** The keyring has native code, which no bundle can carry. */
const KEYRING_OWNER = 'packages/client';

/** Makes the package's folder below `output`; what stood there before is gone. */
export async function buildCommand(output: string): Promise<void> {
  const folder = join(output, COMMAND_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await bundleCommand(join(folder, 'dist'));
  cpSync(join(CHECKOUT, COMMAND_FOLDER, 'bin'), join(folder, 'bin'), { recursive: true });
  const manifest = packCommandManifest(readManifest(COMMAND_FOLDER), {
    ...readManifest(KEYRING_OWNER).optionalDependencies,
  });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(CHECKOUT, path, 'package.json'), 'utf8')) as Manifest;
}
