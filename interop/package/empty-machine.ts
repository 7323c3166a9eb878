/**
 * A machine with nothing on it but the system, Node, npm and one installation: a root folder of its own, made of
 * mounts that its processes alone see. Nothing of the checkout is in it.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Place, temporaryFolder } from '../../conformance/wire/process.ts';
import { findPart, type Part, partAt, requirePart } from '../parts.ts';
import { SHOW_SYSTEM } from './root-folder.ts';

/** Only root may mount, and become another user. */
export const MACHINE: Part = partAt(
  'a root folder of its own',
  process.getuid?.() === 0 ? findPart('unshare').path : undefined,
  'the tests do not run as root, or unshare (util-linux) is not on PATH',
);

/** What a machine is made of. */
export interface MachineOptions {
  /** Folder with `node_modules`. It is `/app` there, and cannot be written. */
  readonly installation: string;
  /** The Node program. */
  readonly node: string;
  /** Numeric id of user and group that everything runs as. No account of it has to exist. */
  readonly user: number;
  /** Whether there is a `/tmp`; without one, nothing can be written but folders of `stateFolder`. */
  readonly hasTemporaryFolder: boolean;
}

/** The machine. As a place, it runs the installed command; started elsewhere, in `/app`. */
export interface Machine extends Place {
  /** Runs Node with these words before the arguments. */
  node(...words: readonly string[]): Place;
  /** Names of what its processes left in `/tmp`. */
  leftovers(): readonly string[];
  remove(): void;
}

/** Where npm's own programs lie there. */
export const NPM_PROGRAMS = '/npm/bin';

const CHECKOUT = realpathSync(new URL('../..', import.meta.url));
/** Not `/tmp`: a machine has one of its own. Folders of state have the same path there as here. */
const PARENT = '/var/tmp';

/** Runs as root in a mount namespace of its own, and becomes a process that has given up everything. */
const SCRIPT = `
set -eu
work=$1 installation=$2 node=$3 npm=$4 checkout=$5 user=$6
shift 6
root=$work/root
mount -t tmpfs -o mode=755,size=1m machine "$root"
${SHOW_SYSTEM}
show /etc /etc
show "$npm" /npm
show "$installation" /app
mkdir -p "$root/node" "$root$work/state"
mount --bind "$work/state" "$root$work/state"
touch "$root/node/node"
mount --bind "$node" "$root/node/node"
if [ -d "$work/tmp" ]; then mkdir "$root/tmp"; mount --bind "$work/tmp" "$root/tmp"; fi
if [ -d "$root$checkout" ]; then mount -t tmpfs -o ro nothing "$root$checkout"; fi
mount -o remount,ro "$root"
case "$PWD" in "$work"/*) folder=$PWD ;; *) folder=/app ;; esac
exec chroot "$root" /usr/bin/env --chdir="$folder" PATH=/node:/usr/bin:/bin \
  setpriv --reuid="$user" --regid="$user" --clear-groups --bounding-set=-all --no-new-privs \
  /node/node "$@"
`;

/** Makes it. Starting a process there takes the time of some twenty mounts. */
export function createMachine({
  installation,
  node,
  user,
  hasTemporaryFolder,
}: MachineOptions): Machine {
  const { path: work, remove } = temporaryFolder(PARENT);
  const [states, temporary] = [join(work, 'state'), join(work, 'tmp')];
  for (const folder of [join(work, 'root'), states]) mkdirSync(folder);
  // What is bound is entered by a user to whom none of it belongs.
  for (const folder of [work, installation]) chmodSync(folder, 0o755);
  if (hasTemporaryFolder) {
    mkdirSync(temporary);
    chmodSync(temporary, 0o1777);
  }
  const npx = realpathSync(requirePart(findPart('npx')));
  const npm = dirname(dirname(npx));
  const words = [work, installation, realpathSync(node), npm, CHECKOUT, String(user)];
  const unshare = [requirePart(MACHINE), '--mount', '--propagation', 'private', '--'];
  const handOver = (folder: string): void =>
    void execFileSync('chown', ['--recursive', `${user}:${user}`, folder]);

  const place = (...program: readonly string[]): Place => ({
    program: [...unshare, 'sh', '-c', SCRIPT, 'sh', ...words, ...program],
    stateFolder() {
      const path = mkdtempSync(join(states, 'state-'));
      chownSync(path, user, user);
      return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
    },
    handOver,
  });
  return {
    ...place('/app/node_modules/sallyport/bin/sallyport.js'),
    node: place,
    leftovers: () => (hasTemporaryFolder ? readdirSync(temporary) : []),
    remove,
  };
}
