/**
 * What a machine needs to build an image.
 *
 * @module
 */

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs, and the packages of Debian that have them. */
const PROGRAMS: ReadonlyMap<string, string> = new Map([
  ['buildah', 'buildah'],
  ['mmdebstrap', 'mmdebstrap'],
  ['mmtarfilter', 'mmdebstrap'],
  ['eu-strip', 'elfutils'],
]);

/**
 * Finds what is missing.
 *
 * @param path - The variable `PATH`.
 * @param user - Number of the user; root keeps the owners of files.
 *
 * @returns A sentence, or `undefined` when everything is there.
 */
export function describeMissing(path: string, user: number | undefined): string | undefined {
  const folders = path.split(delimiter);
  const isMissing = (program: string): boolean =>
    !folders.some((folder) => isExecutable(join(folder, program)));
  const packages = [...PROGRAMS].filter(([program]) => isMissing(program)).map(([, name]) => name);
  if (packages.length > 0)
    return `npm run image needs more programs: apt-get install ${[...new Set(packages)].join(' ')}`;
  return user === 0 ? undefined : 'npm run image has to run as root';
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
