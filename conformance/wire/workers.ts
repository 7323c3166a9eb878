/**
 * The processes behind one `sallyport serve`, as its log names them.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Running } from './process.ts';

/** One line of the log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Long enough for a process to start on a busy machine. */
export const PATIENCE = { timeout: 20_000, interval: 20 };

/** What was read of each log before, so that tests which wait for a line read each line once. */
const logs = new WeakMap<object, { readonly length: number; readonly lines: readonly LogLine[] }>();

/** The complete lines of the log so far; what is no line of it is left out. */
export function logOf(running: Pick<Running, 'stderr'>): readonly LogLine[] {
  const text = running.stderr();
  const { length, lines } = logs.get(running) ?? { length: 0, lines: [] };
  const end = text.lastIndexOf('\n') + 1;
  if (end <= length) return lines;
  const added = text
    .slice(length, end)
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
  const all = [...lines, ...added];
  logs.set(running, { length: end, lines: all });
  return all;
}

/** The processes that listen, by the number of the worker; of a worker that was replaced, the last. */
export function workersOf(running: Pick<Running, 'stderr'>): ReadonlyMap<number, number> {
  return new Map(
    logOf(running)
      .filter(({ event }) => event === 'worker_listening')
      .map(({ worker, pid }) => [Number(worker), Number(pid)]),
  );
}

/** Whether a process runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  return !['', 'Z', 'X'].includes(stateOf(pid));
}

/** Resolves when all of them have ended; rejects after a while. */
export async function allEnded(pids: Iterable<number>): Promise<void> {
  await expect.poll(() => [...pids].filter(isRunning), PATIENCE).toEqual([]);
}

/**
 * Does something while no process of a list can, except one.
 *
 * @param pids - All that serve.
 * @param chosen - The one that has to do it all.
 */
export async function alone<T>(
  pids: Iterable<number>,
  chosen: number,
  work: () => Promise<T>,
): Promise<T> {
  const others = [...pids].filter((pid) => pid !== chosen);
  try {
    for (const pid of others) process.kill(pid, 'SIGSTOP');
    await expect.poll(() => others.every((pid) => stateOf(pid) === 'T'), PATIENCE).toBe(true);
    return await work();
  } finally {
    for (const pid of others) process.kill(pid, 'SIGCONT');
  }
}

/** The processes a process has started and that have not ended. */
export function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);
}

/** The letter of proc(5): `R` and `S` run, `T` is stopped, `Z` has ended; empty when there is none. */
function stateOf(pid: number): string {
  try {
    // The name before it is in brackets, and may hold any character.
    return /.*\) (\w)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
}
