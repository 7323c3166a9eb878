/**
 * How many workers `server.workers` asks for on this machine.
 *
 * @module
 */

import { WORKERS_MAX } from '@sallyport/config';

/**
 * Turns `auto` into one worker for each processor.
 *
 * @param processors - How many this process may use. Node counts its affinity and the CPU limit of its
 *   cgroup, rounded down: a container limited to 1.5 processors has one.
 */
export function countWorkers(configured: number | 'auto', processors: number): number {
  return configured === 'auto' ? Math.max(1, Math.min(processors, WORKERS_MAX)) : configured;
}
