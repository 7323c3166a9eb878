/**
 * A port nobody listens on at the moment.
 *
 * @module
 */

import { type AddressInfo, createServer } from 'node:net';

/**
 * Asks the system for a free port and gives it back. For addresses that have to be known before
 * anything listens, such as an issuer; whoever takes the port first gets it.
 */
export async function findFreePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
