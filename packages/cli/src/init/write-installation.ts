/**
 * Writing the folder of an installation, and nothing over what is there.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { createKeyRingFile } from '@sallyport/server';
import { assertOwnFolder } from '../idp/write-deployment.ts';
import type { Installation } from './installation.ts';
import { createNewFiles, type NewFiles } from './new-files.ts';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/**
 * Writes configuration, folders of secrets, recipe and key ring. Files are of this user alone, but for those of the recipe.
 *
 * @param webSecret - Put into its place; absent: the operator does that later.
 * @returns The paths that were written; otherwise those that are there already, and nothing was written.
 * @throws What the file system says. {@link SallyportError} `SP_STATE_UNUSABLE` for a folder that others may write to. What was
 *   written by then is removed again.
 */
export function writeInstallation(
  installation: Installation,
  webSecret: string | undefined,
  now: number,
): Result<readonly string[], readonly string[]> {
  const { files, secrets, keyRingFile, recipe } = installation;
  const all = new Map(files);
  const [web] = secrets;
  if (web !== undefined && webSecret !== undefined) all.set(web.file, webSecret);
  const inRecipe = (name: string): string => join(recipe?.folder ?? '', name);
  const recipeFiles = new Map(
    [...(recipe?.rendered.files ?? [])].map(([name, text]) => [inRecipe(name), text]),
  );
  const planned = [...all.keys(), keyRingFile, ...recipeFiles.keys()];
  // Those that only a recipe with other options has, too: the proxy would read them.
  const present = [...planned, ...(recipe?.rendered.absent ?? []).map(inRecipe)].filter((file) =>
    existsSync(file),
  );
  if (present.length > 0) return refuse(present);
  const made = createNewFiles();
  try {
    writeAll(installation, all, recipeFiles, made);
    // Last: once it is there it may be in use, and is never removed.
    createKeyRingFile(keyRingFile, () => now).read();
  } catch (error) {
    made.remove();
    throw error;
  }
  return accept(planned);
}

function writeAll(
  { configFile, secrets, keyRingFile, recipe }: Installation,
  files: ReadonlyMap<string, string>,
  recipeFiles: ReadonlyMap<string, string>,
  made: NewFiles,
): void {
  const folder = dirname(configFile);
  made.addFolder(folder, PRIVATE_FOLDER);
  // Who could put files of theirs in place of these would choose the secrets and whom the service trusts.
  assertOwnFolder(folder);
  for (const { file } of secrets) made.addFolder(dirname(file), PRIVATE_FOLDER);
  for (const [file, content] of files) {
    made.addFolder(dirname(file), PRIVATE_FOLDER);
    made.addFile(file, content, PRIVATE_FILE);
  }
  if (recipe !== undefined) made.addFolder(recipe.folder);
  for (const [file, content] of recipeFiles) made.addFile(file, content);
  made.addFolder(dirname(keyRingFile), PRIVATE_FOLDER);
}
