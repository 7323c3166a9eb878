/**
 * A host to install on: a root folder of its own, in memory, with the system's programs, a copy of its settings and an
 * own `/opt`, `/var` and `/tmp`. Root may change everything there, and nothing of the machine that the tests run on.
 *
 * It is no machine that was booted: `systemctl` changes files and asks no systemd to act.
 *
 * @module
 */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { findPart, type Part, partAt, requirePart } from '../parts.ts';
import { SHOW_SYSTEM } from './root-folder.ts';

const run = promisify(execFile);

/** Where the unit expects Node. */
const NODE = '/usr/bin/node';

/** Only root may mount and add users. */
export const HOST: Part = partAt(
  'a root folder of its own',
  process.getuid?.() === 0 && existsSync(NODE) && findPart('nsenter').path !== undefined
    ? findPart('unshare').path
    : undefined,
  `the tests do not run as root, ${NODE} is not there, or unshare and nsenter (util-linux) are not on PATH`,
);

/** Runs as root in a mount namespace of its own. The host is there as long as its standard input is open. */
const SCRIPT = `
set -eu
root=$1 node=$2 npm=$3 files=$4
mount -t tmpfs -o mode=755,size=256m host "$root"
${SHOW_SYSTEM}
show "$npm" "$npm"
show "$files" /files
mount --bind "$node" "$root${NODE}"
cp -a /etc "$root/etc"
mkdir -p "$root/opt" "$root/root" "$root/run" "$root/tmp" \
  "$root/var/cache" "$root/var/lib" "$root/var/log" "$root/var/mail"
chmod 1777 "$root/tmp"
exec chroot "$root" sh -c 'cd /files && echo ready && exec cat'
`;

/** The host. */
export interface FreshHost {
  /** What runs a program there as root, in `/files`: the words before its own. */
  readonly enter: readonly string[];
  /**
   * Runs commands there as root, with bash, in `/files`.
   *
   * @returns What they wrote, both streams in one.
   * @throws With that when one fails.
   */
  bash(commands: string): Promise<string>;
  /** Paths of all files and folders that are not shown from the machine, sorted. */
  list(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

/** Starts one. @param files - Folder that is `/files` there, and cannot be changed. */
export async function startFreshHost(files: string): Promise<FreshHost> {
  const { path: work, remove } = temporaryFolder();
  const root = join(work, 'root');
  mkdirSync(root);
  const npm = dirname(dirname(realpathSync(requirePart(findPart('npm')))));
  const child = spawn(
    requirePart(HOST),
    ['--mount', '--propagation', 'private', '--', 'sh', '-c', SCRIPT, 'sh'].concat([
      root,
      realpathSync(process.execPath),
      npm,
      files,
    ]),
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  if (line !== 'ready') throw new Error('the host could not be made');
  const target = ['--target', String(child.pid), '--mount', '--root', '--wd'];
  const env = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    LC_ALL: 'C.UTF-8',
    SYSTEMD_OFFLINE: '1',
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  const bash: FreshHost['bash'] = async (commands) => {
    const args = ['bash', '--norc', '-euo', 'pipefail', '-c', commands];
    const { stdout, stderr } = await run('nsenter', [...target, ...args], { env });
    return stdout + stderr;
  };
  return {
    enter: ['nsenter', ...target],
    bash,
    async list() {
      // npm keeps packages, logs and its own compiled code; what is in /run is gone with the next boot.
      const passing = ['/root/.npm', '/tmp/node-compile-cache', '/run'];
      const skipped = passing.map((path) => `-path ${path} -prune -o`).join(' ');
      const found = await bash(`find / -xdev ${skipped} -print`);
      return found.trim().split('\n').toSorted();
    },
    async remove() {
      child.stdin.end();
      await ended;
      remove();
    },
  };
}
