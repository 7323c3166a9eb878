/**
 * The file that holds the token, for as long as the token can be used.
 *
 * @module
 */

import { lstatSync, rmSync, type Stats } from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { type FileTerms, readBoundedFile, writeWholeFile } from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';
import { prepareUnixSocket } from '../serve/unix-socket.ts';

/** One file that one agent keeps. */
export interface TokenFile {
  readonly path: string;
  /**
   * Puts a text in place, whole or not at all, with mode 0600.
   *
   * @throws What the file system says.
   */
  write(text: string): void;
  /** Removes the file, unless another program has put one in its place. Throws as {@link write}. */
  remove(): void;
  /** Removes the file, and lets another agent have the path. */
  close(): Promise<void>;
}

const KEY = '--token-file';
const MODE = 0o600;
const LEFT_TERMS: FileTerms = {
  maxBytes: 65_536,
  mayBeLink: false,
  owner: 'this_user',
  closedTo: 'reading_and_writing',
};
/** A token, or a header line with one. */
const OWN_CONTENT = /^(?:[\w-]+: Bearer )?[\x21-\x7e]*$/;

/**
 * Takes the path for this agent alone, and removes the token that one that was killed left there: how long it lives
 * is not known. A file that does not look like an agent's is left alone.
 *
 * A socket beside the file, named like it with a dot before and `.agent` behind, says that an agent lives: the kernel
 * takes it back when a process ends, however it ends.
 *
 * @throws {SallyportError} `SP_STATE_IN_USE` when another agent keeps this file; `SP_STATE_UNUSABLE` when something
 *   else lies there; `SP_LISTEN_FAILED` when others may write to the folder, or it is not there.
 */
export async function openTokenFile(path: string): Promise<TokenFile> {
  const claim = await claimPath(path);
  try {
    removeLeft(path);
  } catch (cause) {
    await claim.release();
    throw cause;
  }
  let written: Stats | undefined;
  const remove = (): void => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    const isOwn = found?.ino === written?.ino && found?.dev === written?.dev;
    if (found !== undefined && isOwn) rmSync(path, { force: true });
    written = undefined;
  };
  return {
    path,
    write(text) {
      writeWholeFile(path, text, { mode: MODE });
      written = lstatSync(path);
    },
    remove,
    async close() {
      try {
        remove();
      } finally {
        await claim.release();
      }
    },
  };
}

interface Claim {
  release(): Promise<void>;
}

async function claimPath(path: string): Promise<Claim> {
  const socket = prepareUnixSocket({
    path: join(dirname(path), `.${basename(path)}.agent`),
    mode: '600',
    group: '',
    key: KEY,
  });
  // That it takes connections is all it says. It keeps the process alive where the agent has no other door.
  const server = createServer((connection) => void connection.destroy());
  const release = async (): Promise<void> => {
    socket.remove();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(socket.bindPath, resolve);
    });
    await socket.publish();
  } catch (cause) {
    await release();
    if (!(cause instanceof SallyportError) || cause.code !== 'SP_PORT_IN_USE')
      throw cause instanceof SallyportError
        ? cause
        : unusable(path, 'no socket can be made beside it; choose a shorter path', cause);
    throw new SallyportError('SP_STATE_IN_USE', {
      component: path,
      detail: `${KEY}: another agent keeps this file; stop it, or choose another path`,
      cause,
    });
  }
  return { release };
}

function removeLeft(path: string): void {
  const read = readBoundedFile(path, LEFT_TERMS);
  if (!read.ok && read.error.reason === 'absent') return;
  if (read.ok && OWN_CONTENT.test(read.value)) {
    rmSync(path, { force: true });
    return;
  }
  const found = read.ok ? 'something else than a token' : read.error.found;
  throw unusable(path, `found ${found}; it is left alone, choose another path`);
}

function unusable(path: string, detail: string, cause?: unknown): SallyportError {
  return new SallyportError('SP_STATE_UNUSABLE', {
    component: path,
    detail: `${KEY}: ${detail}`,
    cause,
  });
}
