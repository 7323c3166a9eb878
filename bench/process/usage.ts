/**
 * What processes have used, as the kernel counts it (proc(5)).
 *
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';

/** Use of a process and everything it has started. */
export interface Usage {
  /** Seconds of processor time since the start, user and system, of all threads. */
  readonly cpuSeconds: number;
  /** Bytes in memory, of all processes. */
  readonly rssBytes: number;
  /** Bytes in memory of the largest one. */
  readonly largestBytes: number;
}

/** The kernel reports times in hundredths of a second on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Of the fields after the name, which stands in brackets and may hold any character. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** Sums up the trees of several processes; one that has ended meanwhile counts nothing. */
export function usageOf(roots: readonly number[]): Usage {
  let ticks = 0;
  const sizes: number[] = [];
  for (const pid of roots.flatMap(treeOf)) {
    const fields = read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    ticks += Number(fields[USER_TICKS] ?? 0) + Number(fields[SYSTEM_TICKS] ?? 0);
    const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`)) ?? [];
    sizes.push(Number(kibibytes) * 1_024);
  }
  return {
    cpuSeconds: ticks / TICKS_PER_SECOND,
    rssBytes: sizes.reduce((sum, size) => sum + size, 0),
    largestBytes: Math.max(0, ...sizes),
  };
}

/** A process and all below it. */
function treeOf(pid: number): readonly number[] {
  let threads: readonly string[] = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  const children = threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`)
      .split(' ')
      .filter((text) => text !== '')
      .map(Number),
  );
  return [pid, ...children.flatMap(treeOf)];
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
