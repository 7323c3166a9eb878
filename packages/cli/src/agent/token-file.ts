/**
 * The file that holds the token, for as long as the token can be used.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
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
   * @throws {SallyportError} `SP_STATE_UNUSABLE` when a file lies there that this agent did not write; it stays.
   * @throws What the file system says.
   */
  write(text: string): void;
  /** Removes the file, unless it holds what this agent did not write. @throws What the file system says. */
  remove(): void;
  /** Removes the file, and lets another agent have the path. */
  close(): Promise<void>;
}

const KEY = '--token-file';
const MODE = 0o600;
const MAX_BYTES = 1_048_576;
const TOKEN_TERMS: FileTerms = { maxBytes: MAX_BYTES, mayBeLink: false, owner: 'this_user' };
const RECORD_TERMS: FileTerms = {
  maxBytes: 1_024,
  mayBeLink: false,
  owner: 'this_user',
  closedTo: 'reading_and_writing',
};
const RECORD = /^sallyport-agent-wrote((?: [0-9a-f]{64}){1,2})\n$/;

/**
 * Takes the path for this agent alone, and removes the token that one that was killed left there: how long it lives
 * is not known. A file that no agent wrote is left alone.
 *
 * A socket beside the file, named like it with a dot before and `.agent` behind, says that an agent lives: the kernel
 * takes it back when a process ends, however it ends. A file with `.agent-wrote` behind holds the SHA-256 of what the
 * agent wrote; a password of one word looks like a token, and is none that is named there.
 *
 * @throws {SallyportError} `SP_STATE_IN_USE` when another agent keeps this file; `SP_STATE_UNUSABLE` when something
 *   else lies there; `SP_LISTEN_FAILED` when others may write to the folder, or it is not there.
 */
export async function openTokenFile(path: string): Promise<TokenFile> {
  const claim = await claimPath(path);
  const record = join(dirname(path), `.${basename(path)}.agent-wrote`);
  let own: ReadonlySet<string> = new Set();
  const remove = (): void => {
    const found = readFound(path);
    if (found !== undefined && own.has(found)) rmSync(path, { force: true });
    if (own.size > 0) rmSync(record, { force: true });
    own = new Set();
  };
  try {
    own = readRecord(path, record);
    refuseForeign(path, own);
    remove();
  } catch (cause) {
    await claim.release();
    throw cause;
  }
  return {
    path,
    write(text) {
      const last = refuseForeign(path, own);
      const hashes = [...(last === undefined ? [] : [last]), hash(text)];
      // Before the file, and with both: one that is killed between leaves nothing that no record names.
      writeWholeFile(record, `sallyport-agent-wrote ${hashes.join(' ')}\n`, { mode: MODE });
      own = new Set(hashes);
      writeWholeFile(path, text, { mode: MODE, isNew: last === undefined });
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

/** @returns The hash of the file; `undefined` when there is none. @throws {SallyportError} When it is not an own one. */
function refuseForeign(path: string, own: ReadonlySet<string>): string | undefined {
  const read = readBoundedFile(path, TOKEN_TERMS);
  if (!read.ok && read.error.reason === 'absent') return undefined;
  const found = read.ok ? hash(read.value) : undefined;
  if (found !== undefined && own.has(found)) return found;
  const said = read.ok ? 'something else than a token that an agent wrote' : read.error.found;
  throw unusable(path, `found ${said}; it is left alone, choose another path`);
}

function readFound(path: string): string | undefined {
  const read = readBoundedFile(path, TOKEN_TERMS);
  return read.ok ? hash(read.value) : undefined;
}

/** The hashes of what the agent before wrote. */
function readRecord(path: string, record: string): ReadonlySet<string> {
  const read = readBoundedFile(record, RECORD_TERMS);
  if (!read.ok && read.error.reason === 'absent') return new Set();
  const [, hashes] = (read.ok ? RECORD.exec(read.value) : null) ?? [];
  if (hashes === undefined)
    throw unusable(path, `${record} beside it is not the record of an agent; it is left alone`);
  return new Set(hashes.trim().split(' '));
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function unusable(path: string, detail: string, cause?: unknown): SallyportError {
  return new SallyportError('SP_STATE_UNUSABLE', {
    component: path,
    detail: `${KEY}: ${detail}`,
    cause,
  });
}
