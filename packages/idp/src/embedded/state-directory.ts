/**
 * The directory that lets the embedded IdP survive a restart: secrets, passwords and keys.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SallyportError } from '@sallyport/protocol';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS_MASK = 0o077;

/** Files of one deployment, for their owner alone. */
export interface StateDirectory {
  /** Path of a file of this directory, whether it exists or not. */
  pathOf(name: string): string;
  /**
   * Reads a file, or makes it when it is absent.
   *
   * A new file appears whole under its name or not at all. An existing file that others can read
   * is closed to them; it is never rewritten.
   *
   * @param create - Called only when the file is absent; what it returns is stored byte for byte.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE` when the file cannot be read or written;
   *   `SP_CONFIG_INVALID` when it is empty.
   */
  keep(name: string, create: () => string | Promise<string>): Promise<string>;
  /**
   * Reads a file that {@link replace} wrote; nothing when it is absent.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE` when it cannot be read.
   */
  read(name: string): Promise<string | undefined>;
  /**
   * Writes a file in one step: readers see the content before or this one.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE` when it cannot be written; the content before stays.
   */
  replace(name: string, content: string): Promise<void>;
}

/**
 * Opens a state directory, creating it with its parents when absent.
 *
 * Does not lock: two processes that share a directory share what is in it.
 *
 * @throws {SallyportError} `SP_STORE_UNAVAILABLE` when it cannot be created.
 */
export async function openStateDirectory(path: string): Promise<StateDirectory> {
  await orUnavailable(path, () => mkdir(path, { recursive: true, mode: DIRECTORY_MODE }));
  const pathOf = (name: string): string => join(path, name);

  return {
    pathOf,
    async keep(name, create) {
      const file = pathOf(name);
      const known = await orUnavailable(file, () => readIfPresent(file));
      if (known === undefined) {
        const content = await create();
        await orUnavailable(file, () => writeWhole(file, content));
        return content;
      }
      if (known === '') throw unusableFile(file);
      await orUnavailable(file, () => closeToOthers(file));
      return known;
    },
    read: (name) => orUnavailable(pathOf(name), () => readIfPresent(pathOf(name))),
    replace: (name, content) =>
      orUnavailable(pathOf(name), () => writeWhole(pathOf(name), content)),
  };
}

/** The failure for a file of the state directory whose content cannot be used. */
export function unusableFile(file: string): SallyportError {
  return new SallyportError('SP_CONFIG_INVALID', {
    component: 'idp',
    detail: `${file} is not usable; delete it to have a new one made`,
  });
}

/** A random value of 256 bits in the URL-safe base64 alphabet: a client secret or a cookie key. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
}

async function writeWhole(file: string, content: string): Promise<void> {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(unfinished, content, { mode: FILE_MODE, flag: 'wx', flush: true });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function closeToOthers(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & OTHERS_MASK) !== 0) await chmod(file, FILE_MODE);
}

async function orUnavailable<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    throw new SallyportError('SP_STORE_UNAVAILABLE', {
      component: 'idp',
      detail: `${path} cannot be read or written`,
      cause,
    });
  }
}
