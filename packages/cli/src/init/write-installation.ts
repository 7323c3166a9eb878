/**
 * Writing the folder of an installation, and nothing over what is there.
 *
 * @module
 */

import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '@sallyport/config/files';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { writeRecipe } from '@sallyport/recipes';
import { createKeyRingFile } from '@sallyport/server';
import { assertOwnFolder } from '../idp/write-deployment.ts';
import type { Installation } from './installation.ts';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/**
 * Writes configuration, folders of secrets, key ring and recipe. Files are of this user alone.
 *
 * @param webSecret - Put into its place; absent: the operator does that later.
 * @returns The paths that were written; otherwise those that are there already, and nothing was written.
 * @throws What the file system says. {@link SallyportError} `SP_STATE_UNUSABLE` for a folder that others may write to.
 */
export function writeInstallation(
  { configFile, files, secrets, keyRingFile, recipe }: Installation,
  webSecret: string | undefined,
  now: number,
): Result<readonly string[], readonly string[]> {
  const all = new Map(files);
  const [web] = secrets;
  if (web !== undefined && webSecret !== undefined) all.set(web.file, webSecret);
  const recipeFiles = [...(recipe?.rendered.files.keys() ?? [])].map((name) =>
    join(recipe?.folder ?? '', name),
  );
  const planned = [...all.keys(), keyRingFile, ...recipeFiles];
  const present = planned.filter((file) => existsSync(file));
  if (present.length > 0) return refuse(present);
  const folder = dirname(configFile);
  makeFolder(folder, PRIVATE_FOLDER);
  // Who could put files of theirs in place of these would choose the secrets and whom the service trusts.
  assertOwnFolder(folder);
  for (const { file } of secrets) makeFolder(dirname(file), PRIVATE_FOLDER);
  for (const [file, content] of all) {
    makeFolder(dirname(file), PRIVATE_FOLDER);
    // Not over a file that another program has made since.
    writeFileSync(file, content, { mode: PRIVATE_FILE, flag: 'wx' });
  }
  createKeyRingFile(keyRingFile, () => now).read();
  if (recipe !== undefined) writeRecipe(recipe.folder, recipe.rendered, false);
  return accept(planned);
}
