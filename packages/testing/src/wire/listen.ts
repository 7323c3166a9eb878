/**
 * Servers of tests that are closed and opened again, or asked after they have closed.
 *
 * @module
 */

import type { Server } from 'node:net';
import { freePort } from './ports.ts';

const LOOPBACK = '127.0.0.1';

/**
 * Listens on a port that stays this process's own when the server closes. One that `listen(0)` gives may be another
 * process's a moment later.
 *
 * @returns The port.
 */
export async function listenOnFreePort(server: Server, host: string = LOOPBACK): Promise<number> {
  const port = await freePort();
  await listenOn(server, port, host);
  return port;
}

/** @throws When the port cannot be had; a callback of `listen` would wait for ever. */
export function listenOn(server: Server, port: number, host: string = LOOPBACK): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
