/**
 * The one port the native app's redirect URI is registered with, for one test file at a time.
 *
 * @module
 */

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { isTaken } from '@sallyport/testing/wire/ports';

/** Registered for the native app (requirement, "Limits"). */
export const REDIRECT_PORT = 53_593;
/**
 * The process that listens here may use the redirect port, until it closes this one or ends. Neither a system gives it
 * to anything, nor `freePort` to a test.
 */
const TURNSTILE_PORT = 32_760;
const HOST = '127.0.0.1';
const POLL_MS = 100;

/** Waits for its turn, and until the port is free; the result gives it back. */
export async function holdRedirectPort(): Promise<() => Promise<void>> {
  for (;;) {
    const turnstile = await listen(TURNSTILE_PORT);
    if (turnstile !== undefined) {
      const reservation = (await isTaken(REDIRECT_PORT))
        ? undefined
        : await reserve(TURNSTILE_PORT);
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

/**
 * Keeps the port from being given to connections for as long as this process lives: what has used it once keeps it for
 * a minute after its end, in which a test would wait. Does nothing where another process has it.
 */
export async function keepRedirectPort(): Promise<void> {
  const server = await listen(0);
  if (server === undefined) return;
  server.unref();
  const reservation = await reserve((server.address() as AddressInfo).port);
  reservation?.unref();
}

function listen(port: number): Promise<Server | undefined> {
  // A reservation ends by a reset.
  const server = createServer((socket) => socket.on('error', () => {}).unref());
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, HOST, () => resolve(server));
  });
}

/**
 * The port lies among those that a system gives to `listen(0)` and to connections. One that a connection has been bound
 * to is given to neither (Linux), and can be listened on by who asks for it.
 */
function reserve(port: number): Promise<Socket | undefined> {
  const socket = connect({ host: HOST, port, localAddress: HOST, localPort: REDIRECT_PORT });
  return new Promise((resolve) => {
    socket.once('error', () => resolve(undefined));
    socket.once('connect', () => resolve(socket));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}
