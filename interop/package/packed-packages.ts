/**
 * The tarballs of one build, and folders that they are installed in. Nothing here lies in the checkout.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { temporaryFolder } from '../../conformance/wire/process.ts';

const run = promisify(execFile);

/** What one build made. */
export interface PackedPackages {
  /** Folder of the build; below it the packages' folders. */
  readonly folder: string;
  /** Paths of the tarballs, by the file name without version: `sallyport`, `sallyport-client`. */
  readonly tarballs: ReadonlyMap<string, string>;
}

/** Builds and packs, once in a run (tools/suite/packed-packages.ts): all tests share the folder, and none changes it. */
export async function packPackages(): Promise<PackedPackages> {
  const answer = await fetch(inject('packedPackages'));
  const folder = await answer.text();
  if (!answer.ok) throw new Error(folder);
  const tarballs = join(folder, 'tarballs');
  const named = readdirSync(tarballs)
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => [file.replace(/-\d+\.\d+\.\d+\.tgz$/, ''), join(tarballs, file)] as const);
  return { folder, tarballs: new Map(named) };
}

/** Unpacks a tarball. @returns Text by the path below the package's folder. */
export async function readTarball(tarball: string): Promise<ReadonlyMap<string, string>> {
  const { path: folder, remove } = temporaryFolder();
  try {
    await run('tar', ['--extract', '--file', tarball, '--directory', folder]);
    const root = join(folder, 'package');
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    return new Map(
      files.map(({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [relative(root, path), readFileSync(path, 'utf8')] as const;
      }),
    );
  } finally {
    remove();
  }
}

/** A folder with packages installed in it. */
export interface Installation {
  readonly folder: string;
  /** Writes a file into the folder. @returns Its path. */
  write(name: string, text: string): string;
  remove(): void;
}

/**
 * Installs tarballs into an empty folder with npm, without the optional packages unless `--include=optional` is given.
 *
 * @param options - `--offline` where no other package may be needed.
 */
export async function installTarballs(
  tarballs: readonly string[],
  ...options: readonly string[]
): Promise<Installation> {
  const { path: folder, remove } = temporaryFolder();
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  write('package.json', '{ "type": "module" }\n');
  await run(
    'npm',
    [
      'install',
      '--omit=optional',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      ...options,
      ...tarballs,
    ],
    { cwd: folder },
  );
  return { folder, write, remove };
}
