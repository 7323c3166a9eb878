/**
 * The folder of this package, from the sources and from the bundle.
 *
 * @module
 */

import { existsSync } from 'node:fs';

/**
 * Finds a file of this package by its path from the manifest.
 *
 * The bundle has another depth of folders than the sources, so the root is the nearest folder above this
 * module that holds a manifest. Whether the file exists is not checked.
 */
export function locateInPackage(path: string): URL {
  let root = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', root)) && root.pathname !== '/')
    root = new URL('..', root);
  return new URL(path, root);
}
