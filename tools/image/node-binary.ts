/**
 * Node's binary for the image: that of the npm package in the lockfile, without symbols for debuggers.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../build/layout.ts';
import type { Platform } from './platform.ts';

/** A package of the lockfile. */
interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
}

/**
 * Fetches the package with npm, compares it with the lockfile, and unpacks licence and binary into
 * `folder/share/doc/node` and `folder/bin`.
 *
 * @throws When the package is another than that of the lockfile.
 */
export function unpackNode(folder: string, { node }: Platform): void {
  const name = `node-linux-${node}`;
  const { version, integrity } = readLocked(name);
  const fetched = mkdtempSync(join(tmpdir(), 'sallyport-node-'));
  try {
    const args = [
      'pack',
      `${name}@${version}`,
      '--silent',
      '--prefer-offline',
      '--pack-destination',
      fetched,
    ];
    execFileSync('npm', args, { cwd: fetched, stdio: ['ignore', 'ignore', 'inherit'] });
    const tarball = join(fetched, `${name}-${version}.tgz`);
    requireIntegrity(readFileSync(tarball), integrity, `${name}@${version}`);
    const binaries = join(folder, 'bin');
    const documents = join(folder, 'share/doc/node');
    unpack(tarball, 'package/bin/node', binaries, 2);
    unpack(tarball, 'package/LICENSE', documents, 1);
    // Knows every architecture. Symbols that add-ons link with stay.
    execFileSync('eu-strip', [join(binaries, 'node')]);
    chmodSync(join(binaries, 'node'), 0o755);
    chmodSync(join(documents, 'LICENSE'), 0o644);
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
}

/** Compares bytes with a digest as the lockfile spells it. @throws When they differ, or it is of another kind than SHA-512. */
export function requireIntegrity(bytes: Buffer, integrity: string, name: string): void {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity) throw new Error(`${name} is not that of the lockfile: found ${found}`);
}

function unpack(tarball: string, entry: string, folder: string, strip: number): void {
  mkdirSync(folder, { recursive: true });
  const place = ['--directory', folder, `--strip-components=${strip}`, '--no-same-owner'];
  execFileSync('tar', ['--extract', '--file', tarball, ...place, entry]);
}

function readLocked(name: string): LockedPackage {
  const lock = JSON.parse(readFileSync(join(CHECKOUT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const locked = lock.packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`the lockfile does not name ${name}`);
  return locked;
}
