/**
 * Released Python packages, as the package index gives them, in virtual environments of their own: the
 * clients, and an identity provider.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../tools/cluster/go-tools.ts';
import { findPart, type Part, partAt } from '../parts.ts';

/** What is installed together, and where it is pinned. */
interface Packages {
  readonly name: string;
  readonly requirements: string;
}

const CLIENTS: Packages = {
  name: 'flytekit and flyte',
  requirements: new URL('requirements.txt', import.meta.url).pathname,
};
const PROVIDER: Packages = {
  name: 'oidc-provider-mock',
  requirements: new URL('provider-requirements.txt', import.meta.url).pathname,
};
const INSTALL_MS = 8 * 60_000;

const execute = promisify(execFile);

/** Finds the interpreter that has the clients, see {@link findPackages}. */
export function findPythonClients(): Promise<Part> {
  return findPackages(CLIENTS);
}

/** Finds the interpreter that has an identity provider of other people's code, see {@link findPackages}. */
export function findPythonProvider(): Promise<Part> {
  return findPackages(PROVIDER);
}

/**
 * Finds the interpreter that has the packages; makes its environment when it is not there yet, which
 * takes a minute once.
 *
 * The environment lies in the cache folder of the tools, in a folder named after the pinned versions: others make
 * another one. Without
 * Python 3, `venv` or the package index the part is missing.
 */
async function findPackages({ name, requirements }: Packages): Promise<Part> {
  const python = findPart('python3');
  if (python.path === undefined) return partAt(name, undefined, 'python3 is not on PATH');
  try {
    return partAt(name, await environmentOf(python.path, requirements));
  } catch (cause) {
    const { stderr = '' } = cause as { readonly stderr?: string };
    const because = stderr.trim().split('\n').at(-1) ?? '';
    return partAt(name, undefined, `they could not be installed: ${because}`);
  }
}

async function environmentOf(python: string, requirements: string): Promise<string> {
  const { stdout: version } = await execute(python, ['--version']);
  const key = createHash('sha256').update(version).update(readFileSync(requirements)).digest('hex');
  const cache = cacheFolder();
  const folder = join(cache, `python-${key.slice(0, 16)}`);
  const interpreter = (root: string): string => join(root, 'bin', 'python');
  if (existsSync(interpreter(folder))) return interpreter(folder);

  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, 'unfinished-'));
  try {
    const options = { timeout: INSTALL_MS, maxBuffer: 16 * 1_024 * 1_024 };
    await execute(python, ['-m', 'venv', unfinished], options);
    const install = ['install', '--quiet', '--require-hashes', '--only-binary', ':all:'];
    const from = ['--disable-pip-version-check', '--requirement', requirements];
    await execute(interpreter(unfinished), ['-m', 'pip', ...install, ...from], options);
    // Whole under its name or not at all; a process that installs at the same time makes the same folder.
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return interpreter(folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
