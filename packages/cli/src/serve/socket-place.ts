/**
 * The place of a Unix socket: a folder that others cannot write to, and a name that no other program answers on.
 *
 * @module
 */

import {
  chownSync,
  linkSync,
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { findOpenFolder } from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';

/** The errors of one socket. */
export interface SocketErrors {
  /** What the operator gives the path by. */
  readonly key: string;
  /** `SP_LISTEN_FAILED`, with the configuration key to correct. */
  readonly failed: (key: string, said: string, cause?: unknown) => SallyportError;
  /** `SP_PORT_IN_USE`. */
  readonly inUse: () => SallyportError;
  /** Runs a call of the system; a failure of it is thrown as `SP_LISTEN_FAILED`. */
  readonly attempt: <T>(act: () => T) => T;
}

/** Name of a file that is not there. */
const NO_FILE = '.sallyport';
/** Name of a socket that was moved away from its place, in the private folder. */
export const TAKEN = 'taken';
/** A connection that is neither taken nor refused within this time belongs to a program that is alive. */
const PROBE_MS = 2_000;

/**
 * Creates the errors for a socket's path.
 *
 * @param key - What the operator gives the path by.
 */
export function createSocketErrors(path: string, key: string): SocketErrors {
  const component = `unix:${path}`;
  const failed = (key: string, said: string, cause?: unknown): SallyportError =>
    new SallyportError('SP_LISTEN_FAILED', { component, detail: `${key}: ${said}`, cause });
  return {
    key,
    failed,
    inUse: () =>
      new SallyportError('SP_PORT_IN_USE', {
        component,
        detail: `${key}: another program answers on this socket; stop it, or choose another path`,
      }),
    attempt(act) {
      try {
        return act();
      } catch (cause) {
        throw failed(key, `cannot be made: the system says ${codeOf(cause)}`, cause);
      }
    },
  };
}

/**
 * Finds the folder of a socket's path, links resolved.
 *
 * @throws {SallyportError} `SP_LISTEN_FAILED` when it is not there or other users can write to it.
 */
export function resolveSocketFolder(path: string, { key, failed }: SocketErrors): string {
  let real: string;
  try {
    // `/var/run` is a link on many systems; what it leads to is what counts.
    real = realpathSync(dirname(path));
  } catch (cause) {
    throw failed(
      key,
      `the folder of the socket cannot be entered (${codeOf(cause)}); make it, for the user of this process`,
      cause,
    );
  }
  // Of the place, not of what lies there now.
  const open = findOpenFolder(join(real, NO_FILE));
  if (open !== undefined)
    throw failed(
      key,
      `others may write to ${open} and put a socket of theirs there; choose a folder of this user's own, such as /run/sallyport`,
    );
  return real;
}

/**
 * Finds a group's number.
 *
 * @param group - Name or number.
 * @throws {SallyportError} `SP_LISTEN_FAILED` when this machine has no such group.
 */
export function readGroup(group: string, { failed, attempt }: SocketErrors): number {
  if (/^\d+$/.test(group)) return Number(group);
  const line = attempt(() => readFileSync('/etc/group', 'utf8'))
    .split('\n')
    .find((each) => each.split(':', 1)[0] === group);
  const id = line?.split(':')[2] ?? '';
  if (!/^\d+$/.test(id)) throw failed('server.socketGroup', 'this machine has no such group');
  return Number(id);
}

/** Gives a socket to a group. @throws {SallyportError} `SP_LISTEN_FAILED` when this user may not. */
export function giveToGroup(path: string, group: number, { failed }: SocketErrors): void {
  try {
    chownSync(path, -1, group);
  } catch (cause) {
    throw failed(
      'server.socketGroup',
      `this user may not give it to the group (${codeOf(cause)}); make it a member`,
      cause,
    );
  }
}

/**
 * Moves a bound socket into its place. A socket that lies there is taken over when no program listens on it.
 *
 * @param privately - A folder beside the place that only this user can enter.
 * @throws {SallyportError} `SP_PORT_IN_USE` when a program answers there, `SP_LISTEN_FAILED` when the place
 *   cannot be had.
 */
export async function claimPlace(
  bound: string,
  place: string,
  privately: string,
  errors: SocketErrors,
): Promise<void> {
  if (link(bound, place, errors)) return;
  await takeAway(place, privately, errors);
  if (!link(bound, place, errors)) throw errors.inUse();
}

/** Puts the bound socket in its place. @returns `false` when something lies there. */
function link(bound: string, place: string, { key, failed }: SocketErrors): boolean {
  try {
    linkSync(bound, place);
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false;
    throw failed(key, `cannot be made: the system says ${codeOf(cause)}`, cause);
  }
  unlinkSync(bound);
  return true;
}

/**
 * Removes a socket on which no program listens. It is moved before it is judged, so that of two processes that
 * start at once neither removes the other's socket: one that answers is put back.
 */
async function takeAway(place: string, privately: string, errors: SocketErrors): Promise<void> {
  const judged = look(place);
  refuseOther(judged, errors);
  if (await answers(place)) throw errors.inUse();
  // Another process was faster: what lies there now is its socket.
  if (!isSame(look(place), judged)) {
    if (look(place) === undefined) return;
    throw errors.inUse();
  }
  const taken = join(privately, TAKEN);
  try {
    renameSync(place, taken);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return;
    throw errors.failed(
      errors.key,
      `cannot be taken over: the system says ${codeOf(cause)}`,
      cause,
    );
  }
  // One that took its place between the two looks is put back at once, so that no third sees the place empty for long.
  if (!isSame(look(taken), judged) || (await answers(taken))) {
    try {
      linkSync(taken, place);
    } catch {
      // A third process has the place by now.
    }
    rmSync(taken, { force: true });
    throw errors.inUse();
  }
  rmSync(taken, { force: true });
}

/** Whether both are one socket: an inode's number is given again, the time of its making is not. */
function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  return one?.ino === other?.ino && one?.dev === other?.dev && one?.mtimeMs === other?.mtimeMs;
}

/** @throws {SallyportError} `SP_LISTEN_FAILED` when the file found is no socket. */
export function refuseOther(found: Stats | undefined, { key, failed }: SocketErrors): void {
  if (found !== undefined && !found.isSocket())
    throw failed(key, 'something else than a socket has this name; it is left alone');
}

/** Whether a program listens: only a refused connection, or no file, says that none does. */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (isAlive: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isAlive);
    };
    const timer = setTimeout(() => settle(true), PROBE_MS);
    socket.once('connect', () => settle(true));
    socket.once('error', (cause) => {
      const code = codeOf(cause);
      settle(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}

/** The file in a place itself, not what a link leads to; `undefined` when there is none. */
export function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'nothing more';
}
