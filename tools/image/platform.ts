/**
 * The processors that an image is made for, in the words of each program.
 *
 * @module
 */

import { UsageError } from '../command-line/usage.ts';

/** An architecture. */
export interface Platform {
  /** As container images and Debian spell it. */
  readonly debian: 'amd64' | 'arm64';
  /** As Node and its npm packages spell it. */
  readonly node: 'x64' | 'arm64';
}

const PLATFORMS: readonly Platform[] = [
  { debian: 'amd64', node: 'x64' },
  { debian: 'arm64', node: 'arm64' },
];

/** Finds one by the name that images use; this machine's when there is none. @throws {UsageError} For another name. */
export function findPlatform(name?: string): Platform {
  const found = PLATFORMS.find(({ debian, node }) =>
    name === undefined ? node === process.arch : debian === name,
  );
  if (found === undefined)
    throw new UsageError(`--arch: one of ${PLATFORMS.map(({ debian }) => debian).join(', ')}`);
  return found;
}
