/**
 * Node's binary for the image: that of the npm package in the lockfile, without symbols for debuggers.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CHECKOUT } from '../build/layout.ts';
import type { Platform } from './platform.ts';

/** A package of the lockfile. */
interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
}

const BINARY = 'bin/node';
const LICENCE = 'LICENSE';
const DOCUMENTS = 'share/doc/node';

/**
 * Fetches the package with npm, compares it with the lockfile, and puts its binary and its licence into
 * `folder/bin` and `folder/share/doc/node`.
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
    const unpacked = ['--directory', fetched, '--no-same-owner'];
    const entries = [BINARY, LICENCE].map((entry) => `package/${entry}`);
    execFileSync('tar', ['--extract', '--file', tarball, ...unpacked, ...entries]);
    // Knows every architecture. Symbols that add-ons link with stay.
    const binary = join(folder, BINARY);
    mkdirSync(dirname(binary), { recursive: true });
    execFileSync('eu-strip', ['-o', binary, join(fetched, 'package', BINARY)]);
    chmodSync(binary, 0o755);
    const licence = join(folder, DOCUMENTS, LICENCE);
    mkdirSync(dirname(licence), { recursive: true });
    copyFileSync(join(fetched, 'package', LICENCE), licence);
    chmodSync(licence, 0o644);
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
}

/** Compares bytes with a digest as the lockfile spells it. @throws When they differ, or it is of another kind than SHA-512. */
export function requireIntegrity(bytes: Buffer, integrity: string, name: string): void {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity) throw new Error(`${name} is not that of the lockfile: found ${found}`);
}

function readLocked(name: string): LockedPackage {
  const lock = JSON.parse(readFileSync(join(CHECKOUT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const locked = lock.packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`the lockfile does not name ${name}`);
  return locked;
}
