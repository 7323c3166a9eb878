/**
 * The one port the native app's redirect URI is registered with, for one test file at a time.
 *
 * @module
 */

import { connect, createServer, type Server, type Socket } from 'node:net';
import { isTaken } from '@sallyport/testing/wire/ports';

/** Registered for the native app (requirement, "Limits"). */
export const REDIRECT_PORT = 53_593;
/** The process that listens here may use the redirect port, until it closes this one or ends. */
const TURNSTILE_PORT = 53_592;
const HOST = '127.0.0.1';
const POLL_MS = 100;

/** Waits for its turn, and until the port is free; the result gives it back. */
export async function holdRedirectPort(): Promise<() => Promise<void>> {
  for (;;) {
    const turnstile = await enter();
    if (turnstile !== undefined) {
      const reservation = (await isTaken(REDIRECT_PORT)) ? undefined : await reserve();
      if (reservation !== undefined)
        return async () => {
          reservation.resetAndDestroy();
          await close(turnstile);
        };
      await close(turnstile);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function enter(): Promise<Server | undefined> {
  // A reservation ends by a reset.
  const server = createServer((socket) => socket.on('error', () => {}));
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(TURNSTILE_PORT, HOST, () => resolve(server));
  });
}

/**
 * The port lies among those that a system gives to `listen(0)` and to connections. One that a connection has been bound
 * to is given to neither (Linux), and can be listened on by who asks for it.
 */
function reserve(): Promise<Socket | undefined> {
  const address = { host: HOST, port: TURNSTILE_PORT };
  const socket = connect({ ...address, localAddress: HOST, localPort: REDIRECT_PORT });
  return new Promise((resolve) => {
    socket.once('error', () => resolve(undefined));
    socket.once('connect', () => resolve(socket));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}
