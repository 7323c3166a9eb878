/**
 * The package `sallyport` as npm installs it.
 *
 * @module
 */

import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCommand } from './bundle-command.ts';
import { CHECKOUT, COMMAND_FOLDER, readManifest } from './layout.ts';
import { preparePackageFolder, writeManifest } from './package-folder.ts';
import { packCommandManifest } from './packed-manifest.ts';
import { findBundledPackages, formatNotices } from './third-party-notices.ts';

/** The keyring has native code, which no bundle can carry. */
const KEYRING_OWNER = 'packages/client';

/** The unit of systemd, so that an installation has it without the checkout. */
const UNIT = 'sallyport.service';

/** Makes the package's folder below `output`; what stood there before is gone. */
export async function buildCommand(output: string, gitHead: string | undefined): Promise<void> {
  const folder = preparePackageFolder(output, COMMAND_FOLDER);
  const { modules } = await bundleCommand(join(folder, 'dist'));
  cpSync(join(CHECKOUT, COMMAND_FOLDER, 'bin'), join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'systemd'));
  cpSync(join(CHECKOUT, 'deploy/systemd', UNIT), join(folder, 'systemd', UNIT));
  const notices = formatNotices(findBundledPackages(modules));
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.md'), notices);
  const { optionalDependencies = {} } = readManifest(KEYRING_OWNER);
  writeManifest(
    folder,
    packCommandManifest(readManifest(COMMAND_FOLDER), optionalDependencies, gitHead),
  );
}
