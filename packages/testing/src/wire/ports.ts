/**
 * Ports of this machine.
 *
 * @module
 */

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that a system gives to connections and to `listen(0)` (from 32,768 on Linux, 49,152 elsewhere), so
 * that no other process is given the port between this answer and its use.
 */
const LOWEST = 10_000;
const HIGHEST = 32_767;

/** On the global object: a test file and the set-up file of its project may hold two copies of this module. */
const CHOSEN = Symbol.for('sallyport.testing.chosen-ports');

/** A port of the loopback on which nothing listens at the moment, another one at each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (chosenPorts().has(port)) continue;
    chosenPorts().add(port);
    if (!(await isTaken(port))) return port;
  }
}

/** Whether {@link freePort} answered with this port in this process. */
export function isChosen(port: number): boolean {
  return chosenPorts().has(port);
}

/** Whether a port cannot be listened on: a process does, or this user may not. */
export function isTaken(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(true));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(false)));
  });
}

function chosenPorts(): Set<number> {
  const kept: { [CHOSEN]?: Set<number> } = globalThis as object;
  kept[CHOSEN] ??= new Set();
  return kept[CHOSEN];
}
