/**
 * Identity of a process, which lets another process see whether it still runs.
 *
 * @module
 */

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process, named beyond the reuse of its number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the kernel's own unit; empty where the system does not say. */
  readonly startTime: string;
  /** Where its number means anything: host, boot and process namespace. */
  readonly place: string;
}

/** Reads identities. A port, so that a test can end a process without a process. */
export interface ProcessTable {
  readonly self: ProcessIdentity;
  /**
   * `true` only if the process has certainly ended; `false` if unknown, such as for a process of another place
   * or user.
   */
  hasEnded(process: ProcessIdentity): boolean;
}

/** Creates the table of this machine: `/proc` where there is one, and signal 0 elsewhere. */
export function createProcessTable(): ProcessTable {
  const place = [hostname(), bootId(), processNamespace()].join(' ');
  const self = { pid: process.pid, startTime: startTimeOf(process.pid) ?? '', place };
  return {
    self,
    hasEnded({ pid, startTime, place: itsPlace }) {
      // A container that shares the folder counts its processes by itself.
      if (itsPlace !== place) return false;
      if (!exists(pid)) return true;
      const runningSince = startTimeOf(pid);
      return runningSince !== undefined && startTime !== '' && runningSince !== startTime;
    },
  };
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/**
 * Field 22 of `/proc/<pid>/stat` (proc_pid_stat(5)). The second field is the program's name in
 * brackets and may hold anything, brackets too, so that fields are counted from the last one.
 */
function startTimeOf(pid: number): string | undefined {
  const stat = readOrEmpty(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  // A zombie has ended; only its parent has not asked yet.
  if (state === 'Z' || state === 'X') return 'ended';
  return startTime;
}

function bootId(): string {
  return readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

function processNamespace(): string {
  return readOrEmpty(() => readlinkSync('/proc/self/ns/pid'));
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
