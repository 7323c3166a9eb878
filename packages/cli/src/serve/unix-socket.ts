/**
 * A Unix socket to listen on: bound in private, given its permissions, then moved into its place.
 *
 * @module
 */

import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Config } from '@sallyport/config';
import {
  answers,
  claimPlace,
  createSocketErrors,
  giveToGroup,
  look,
  readGroup,
  refuseOther,
  resolveSocketFolder,
  TAKEN,
} from './socket-place.ts';

/** What the operator asks for. */
export interface UnixSocketOptions {
  /** Absolute, without `..`. */
  readonly path: string;
  /** Permissions of the file, in octal; who may connect needs to write. */
  readonly mode: string;
  /** Name or number of the group of the file; empty leaves it as it is made. */
  readonly group: string;
  /** What the operator gives the path by; `server.listen` when absent. */
  readonly key?: string;
}

/** A socket that is bound in private, and then shown in its place. */
export interface UnixSocket {
  /** Where the listener binds: in a folder that only this user can enter. */
  readonly bindPath: string;
  /**
   * Gives the bound socket its permissions and its place. To be called whenever a listener may have
   * bound anew; does nothing when none has.
   *
   * @throws {SallyportError} `SP_PORT_IN_USE` when another program answers in that place, `SP_LISTEN_FAILED`
   *   when the place cannot be had.
   */
  publish(): Promise<void>;
  /** Removes the socket, unless another one has its place. To be called while it is still listened on. */
  remove(): void;
}

/** Name of the socket in its private folder. */
const BOUND = 's';
/** What `mkdtemp` puts behind the prefix. */
const RANDOM_END = /^[A-Za-z0-9]{6}$/;

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
 * Prepares the socket. Its place is not changed yet.
 *
 * The socket is bound where only this user can reach it, and moved into its place once it has its permissions:
 * at no moment can a user connect who may not. A file that lies there already is replaced only when it is a
 * socket on which no program listens.
 *
 * @throws {SallyportError} `SP_LISTEN_FAILED` when the folder is not there or open to others, when
 *   something else than a socket has the name, or when the group is not known.
 */
export function prepareUnixSocket({
  path,
  mode,
  group,
  key = 'server.listen',
}: UnixSocketOptions): UnixSocket {
  const errors = createSocketErrors(path, key);
  const folder = resolveSocketFolder(path, errors);
  const place = join(folder, basename(path));
  refuseOther(look(place), errors);
  const gid = group === '' ? undefined : readGroup(group, errors);
  const prefix = `.${basename(path)}-`;
  const privately = errors.attempt(() => mkdtempSync(join(folder, prefix)));
  const bindPath = join(privately, BOUND);
  /** The file that was put in place last. */
  let shown: Stats | undefined;
  /** Workers begin to listen at once, and each of them publishes the socket. */
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
      // Another process took the place while this one's private folder was still empty, and removed it.
      if (shown === undefined) throw errors.inUse();
      return;
    }
    errors.attempt(() => chmodSync(bindPath, Number.parseInt(mode, 8)));
    if (gid !== undefined) giveToGroup(bindPath, gid, errors);
    shown = look(bindPath);
    await claimPlace(bindPath, place, privately, errors);
    await removeLeftBehind(folder, prefix, privately);
  }
}

/**
 * Removes the private folders of processes that were killed: no other process has this place now. A process that
 * only begins may still have one, so a folder with a socket that answers stays, and so does all that was not made
 * here: another name, another owner, other content.
 */
async function removeLeftBehind(folder: string, prefix: string, privately: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const left = join(folder, name);
    const isLeft = name.startsWith(prefix) && RANDOM_END.test(name.slice(prefix.length));
    if (!isLeft || left === privately) continue;
    try {
      await removeFolder(left);
    } catch {
      // It changed meanwhile, or is not ours to remove: it stays.
    }
  }
}

async function removeFolder(left: string): Promise<void> {
  const found = look(left);
  if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) return;
  const inside = readdirSync(left);
  const sockets = inside.map((name) => join(left, name));
  if (!inside.every((name) => name === BOUND || name === TAKEN)) return;
  if (!sockets.every((path) => look(path)?.isSocket())) return;
  for (const path of sockets) if (await answers(path)) return;
  for (const path of sockets) unlinkSync(path);
  rmdirSync(left);
}
