/**
 * The plane that all files of a worker share: none of them changes its settings.
 *
 * @module
 */

import { rmSync } from 'node:fs';
import { type Plane, startPlane } from '../../conformance/wire/platform.ts';

/** The plane; it has no end of its own, because the next file uses it, too. */
export type SharedPlane = Omit<Plane, 'stop'>;

let running: Promise<SharedPlane> | undefined;

/**
 * Starts the plane with the first file of a worker, and ends it with the worker.
 *
 * Sessions stay from test to test: a test that counts them ends all of them first, with
 * {@link endEverySession}.
 */
export function openPlane(): Promise<SharedPlane> {
  running ??= startForWorker();
  return running;
}

/** Nothing asynchronous happens at an exit: the plane gets no time to end by itself. */
async function startForWorker(): Promise<SharedPlane> {
  const plane = await startPlane([], { endsWithTest: true });
  process.once('exit', () => {
    void plane.running.kill();
    rmSync(plane.state, { recursive: true, force: true });
  });
  return plane;
}
