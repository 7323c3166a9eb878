/**
 * The one port the native app's redirect URI is registered with, for one test file at a time.
 *
 * @module
 */

import { createServer, type Server } from 'node:net';
import { isTaken } from '@sallyport/testing/wire/ports';

/** Registered for the native app (requirement, "Limits"). */
export const REDIRECT_PORT = 53_593;
/** The process that listens here may use the redirect port, until it closes this one or ends. */
const TURNSTILE_PORT = 53_592;
const POLL_MS = 100;

/** Waits for its turn, and until the port is free; the result gives it back. */
export async function holdRedirectPort(): Promise<() => Promise<void>> {
  for (;;) {
    const turnstile = await enter();
    if (turnstile !== undefined && !(await isTaken(REDIRECT_PORT)))
      return () => new Promise((resolve) => turnstile.close(() => resolve()));
    turnstile?.close();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function enter(): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(TURNSTILE_PORT, '127.0.0.1', () => resolve(server));
  });
}
