/**
 * The file of a Unix socket: where it may lie, who may connect, and whose place it may take.
 *
 * @module
 */

import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { connect } from 'node:net';
import { basename, dirname, join } from 'node:path';
import type { Config } from '@sallyport/config';
import { findOpenFolder } from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';

/** What the operator asks for. */
export interface UnixSocketOptions {
  /** Absolute, without `..`. */
  readonly path: string;
  /** Permissions of the file, in octal; who may connect needs to write. */
  readonly mode: string;
  /** Name or number of the group of the file; empty leaves it as it is made. */
  readonly group: string;
}

/** A socket that is bound in private, and then shown in its place. */
export interface UnixSocket {
  /** Where the listener binds: in a folder that nobody else can enter. */
  readonly bindPath: string;
  /**
   * Gives the bound socket its permissions and its place. To be called whenever a listener may have
   * bound anew; without a new one it does nothing.
   *
   * @throws {SallyportError} `SP_PORT_IN_USE` when somebody answers in that place, `SP_LISTEN_FAILED` when
   *   it cannot be had.
   */
  publish(): Promise<void>;
  /** Takes it away, unless another one has its place. To be called while it is still listened on. */
  remove(): void;
}

/** Name of a file that is not there. */
const NO_FILE = '.sallyport';
/** A connection that is neither taken nor refused within this time belongs to somebody who is alive. */
const PROBE_MS = 2_000;

/**
 * The socket that a configuration asks for.
 *
 * @returns `undefined` where it listens on a port.
 * @throws {SallyportError} As {@link prepareUnixSocket}.
 */
export function openUnixSocket({ server }: Pick<Config, 'server'>): UnixSocket | undefined {
  return server.listen === ''
    ? undefined
    : prepareUnixSocket({
        path: server.listen.slice('unix:'.length),
        mode: server.socketMode,
        group: server.socketGroup,
      });
}

/**
 * Prepares the socket. Nothing is in its place yet, and what lies there stays.
 *
 * A socket is bound where only this user can reach it, and moved into its place once it has its
 * permissions: at no moment can anybody connect who may not. What lies there already is taken over when
 * it is a socket on which nobody listens, and never otherwise.
 *
 * @throws {SallyportError} `SP_LISTEN_FAILED` when the folder is not there or open to others, when
 *   something else than a socket has the name, or when the group is not known.
 */
export function prepareUnixSocket({ path, mode, group }: UnixSocketOptions): UnixSocket {
  const failed = (key: string, said: string, cause?: unknown) =>
    new SallyportError('SP_LISTEN_FAILED', {
      component: `unix:${path}`,
      detail: `${key}: ${said}`,
      cause,
    });
  const inUse = () =>
    new SallyportError('SP_PORT_IN_USE', {
      component: `unix:${path}`,
      detail:
        'server.listen: another program answers on this socket; stop it, or choose another path',
    });
  const folder = resolveFolder();
  const place = join(folder, basename(path));
  refuseOther(look(place));
  const gid = group === '' ? undefined : readGroup();
  const prefix = `.${basename(path)}-`;
  const privately = attempt(() => mkdtempSync(join(folder, prefix)));
  const bindPath = join(privately, 's');
  /** The file that was shown last. */
  let shown: Stats | undefined;
  /** Workers begin to listen at once, and each says so. */
  let turn = Promise.resolve();

  return {
    bindPath,
    publish() {
      turn = turn.then(show, show);
      return turn;
    },
    remove() {
      const found = look(place);
      if (found !== undefined && found.ino === shown?.ino && found.dev === shown.dev)
        rmSync(place, { force: true });
      rmSync(privately, { recursive: true, force: true });
    },
  };

  async function show(): Promise<void> {
    if (look(bindPath) === undefined) {
      // One that came first has tidied up.
      if (shown === undefined) throw inUse();
      return;
    }
    attempt(() => chmodSync(bindPath, Number.parseInt(mode, 8)));
    if (gid !== undefined) giveTo(gid);
    shown = look(bindPath);
    if (!link()) {
      await takeAway();
      if (!link()) throw inUse();
    }
    removeLeftBehind();
  }

  /** What processes that were killed have left: nobody else has this place now. */
  function removeLeftBehind(): void {
    for (const name of readdirSync(folder)) {
      const left = join(folder, name);
      if (name.startsWith(prefix) && left !== privately)
        rmSync(left, { recursive: true, force: true });
    }
  }

  /** Puts the bound socket in its place. @returns `false` when something lies there. */
  function link(): boolean {
    try {
      linkSync(bindPath, place);
    } catch (cause) {
      if (codeOf(cause) === 'EEXIST') return false;
      throw failed('server.listen', `cannot be made: the system says ${codeOf(cause)}`, cause);
    }
    unlinkSync(bindPath);
    return true;
  }

  /**
   * Takes a socket that nobody listens on out of the place. It is moved before it is judged, so that of
   * two that start at once neither takes away the other's: what answers is put back.
   */
  async function takeAway(): Promise<void> {
    refuseOther(look(place));
    if (await answers(place)) throw inUse();
    const taken = join(privately, 'taken');
    try {
      renameSync(place, taken);
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return;
      throw failed(
        'server.listen',
        `cannot be taken over: the system says ${codeOf(cause)}`,
        cause,
      );
    }
    const isForeign = look(taken)?.isSocket() !== true;
    if (isForeign || (await answers(taken))) {
      try {
        linkSync(taken, place);
      } catch {
        // A third one has the place by now.
      }
      rmSync(taken, { force: true });
      throw inUse();
    }
    rmSync(taken, { force: true });
  }

  function resolveFolder(): string {
    let real: string;
    try {
      // `/var/run` is a link on many systems; what it leads to is what counts.
      real = realpathSync(dirname(path));
    } catch (cause) {
      throw failed(
        'server.listen',
        `the folder of the socket cannot be entered (${codeOf(cause)}); make it, for the user of this process`,
        cause,
      );
    }
    // Of the place, not of what lies there now.
    const open = findOpenFolder(join(real, NO_FILE));
    if (open !== undefined)
      throw failed(
        'server.listen',
        `others may write to ${open} and put a socket of theirs there; choose a folder of this user's own, such as /run/sallyport`,
      );
    return real;
  }

  function refuseOther(found: Stats | undefined): void {
    if (found !== undefined && !found.isSocket())
      throw failed('server.listen', 'something else than a socket has this name; it is left alone');
  }

  function readGroup(): number {
    if (/^\d+$/.test(group)) return Number(group);
    const line = attempt(() => readFileSync('/etc/group', 'utf8'))
      .split('\n')
      .find((each) => each.split(':', 1)[0] === group);
    const id = line?.split(':')[2] ?? '';
    if (!/^\d+$/.test(id)) throw failed('server.socketGroup', 'this machine has no such group');
    return Number(id);
  }

  function giveTo(to: number): void {
    try {
      chownSync(bindPath, -1, to);
    } catch (cause) {
      throw failed(
        'server.socketGroup',
        `this user may not give it to the group (${codeOf(cause)}); make it a member`,
        cause,
      );
    }
  }

  function attempt<T>(act: () => T): T {
    try {
      return act();
    } catch (cause) {
      throw failed('server.listen', `cannot be made: the system says ${codeOf(cause)}`, cause);
    }
  }
}

/** Whether somebody listens: only a refused connection, or no file, says that nobody does. */
function answers(path: string): Promise<boolean> {
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

/** What lies there itself, not what a link leads to. */
function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'nothing more';
}
