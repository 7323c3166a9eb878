/**
 * Puts the files of a recipe into the folder that its proxy reads.
 *
 * @module
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '@sallyport/config/files';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { RenderedRecipe } from './recipe.ts';

/** File names, each in one of the lists. */
export interface WrittenRecipe {
  readonly written: readonly string[];
  /** They had the content already. */
  readonly unchanged: readonly string[];
  /** Files of an earlier run that this recipe does not have. */
  readonly removed: readonly string[];
}

/**
 * Writes the files, makes the folder for them, and removes what the recipe has with other options only.
 *
 * Leaves every other file of the folder alone. Does not make the proxy read the files.
 *
 * @param mayReplace - Whether files with another content may be replaced or removed.
 * @returns The lists of names; or, where files stand in the way, their names, and nothing was written.
 * @throws What the file system says.
 */
export function writeRecipe(
  folder: string,
  { files, absent }: RenderedRecipe,
  mayReplace: boolean,
): Result<WrittenRecipe, readonly string[]> {
  const present = new Map(
    [...files.keys(), ...absent].map((name) => [name, readIfPresent(join(folder, name))]),
  );
  const removed = absent.filter((name) => present.get(name) !== undefined);
  const changed = [...files].filter(([name, content]) => present.get(name) !== content);
  const replaced = changed.map(([name]) => name).filter((name) => present.get(name) !== undefined);
  if (!mayReplace && replaced.length + removed.length > 0)
    return refuse([...replaced, ...removed].toSorted());
  makeFolder(folder);
  for (const name of removed) rmSync(join(folder, name));
  for (const [name, content] of changed) writeFileSync(join(folder, name), content);
  const written = changed.map(([name]) => name);
  const unchanged = [...files.keys()].filter((name) => !written.includes(name));
  return accept({ written, unchanged, removed });
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
