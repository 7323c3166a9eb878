/**
 * Who listens on a port of this machine.
 *
 * @module
 */

import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { toPrintable } from '../metadata/printable.ts';

/** A process that listens. */
export interface PortHolder {
  readonly pid: number;
  /** Its short name, printable. */
  readonly name: string;
}

const LISTEN = '0A';

/**
 * Finds the process that listens on a TCP port, as far as this user may look: another user's process,
 * and any on a system without `/proc`, is not found.
 *
 * @param proc - Where the process file system is mounted.
 */
export async function findPortHolder(
  port: number,
  proc = '/proc',
): Promise<PortHolder | undefined> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(join(proc, 'net', name), 'utf8').catch(() => '')),
  );
  const inodes = new Set(tables.flatMap((table) => listInodes(table, port)));
  if (inodes.size === 0) return undefined;
  const links = new Set([...inodes].map((inode) => `socket:[${inode}]`));
  const processes = await readdir(proc).catch(() => []);
  for (const pid of processes.filter((name) => /^\d+$/.test(name))) {
    if (!(await holdsAny(join(proc, pid, 'fd'), links))) continue;
    const name = await readFile(join(proc, pid, 'comm'), 'utf8').catch(() => '');
    return { pid: Number(pid), name: toPrintable(name, 64) };
  }
  return undefined;
}

/** Inodes of sockets that listen on the port (proc(5), `/proc/net/tcp`). */
function listInodes(table: string, port: number): readonly string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [, local = '', , state] = fields;
    const inode = fields[9];
    const isHolder = state === LISTEN && local.split(':')[1] === wanted;
    return isHolder && inode !== undefined && inode !== '0' ? [inode] : [];
  });
}

async function holdsAny(folder: string, links: ReadonlySet<string>): Promise<boolean> {
  const descriptors = await readdir(folder).catch(() => []);
  for (const descriptor of descriptors) {
    const link = await readlink(join(folder, descriptor)).catch(() => '');
    if (links.has(link)) return true;
  }
  return false;
}
