/**
 * A TCP port that is free at the moment.
 *
 * @module
 */

import { type AddressInfo, createServer } from 'node:net';
import type { ListenKeys } from '@sallyport/server/listener';

/**
 * Finds a free port. For addresses that have to be known before anything listens, such as an issuer. The port
 * is not reserved: another process may take it.
 *
 * @param keys - What the operator gives the host by, for the message.
 * @throws {SallyportError} `SP_LISTEN_FAILED`.
 */
export async function findFreePort(host: string, keys?: ListenKeys): Promise<number> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, host, resolve);
    });
  } catch (cause) {
    // Loaded for the message alone: the process that starts workers has no use for the rest of it.
    const { listenFailure } = await import('@sallyport/server/listener');
    throw listenFailure(cause, { host, port: 0 }, keys);
  }
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
