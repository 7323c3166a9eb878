/**
 * HTTP listener behind an ingress, with graceful shutdown.
 *
 * @module
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttp1Server, listenFailure } from '@sallyport/server/listener';

/** A running listener. */
export interface HttpListener {
  readonly port: number;
  /** Stops accepting, ends idle connections, and resolves when the last answer is written or time is up. */
  close(): Promise<void>;
}

/** Longer than nginx keeps an idle upstream connection, so that we are never the one to close first. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = 20_000;
const REQUEST_MS = 30_000;
/** An ingress passes on what its own buffers hold: four of 8 KiB by default. */
const HEADER_MAX_BYTES = 65_536;
const DRAIN_MS = 10_000;

/**
 * Listens.
 *
 * @param port - 0 takes a free one.
 * @param option - The option that the port comes from, for the failure; absent where it is always a free one.
 * @throws {SallyportError} `SP_PORT_IN_USE` when it is taken, `SP_LISTEN_FAILED` when it cannot be had.
 */
export async function listenHttp(
  handler: (req: IncomingMessage, res: ServerResponse) => void,
  port: number,
  host: string,
  option?: string,
): Promise<HttpListener> {
  const server = createHttp1Server(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      maxHeaderSize: HEADER_MAX_BYTES,
    },
    { stallMs: REQUEST_MS },
  );
  server.on('request', handler);
  await listening(server, port, host, option);
  return { port: (server.address() as AddressInfo).port, close: () => drain(server) };
}

async function listening(
  server: Server,
  port: number,
  host: string,
  option: string | undefined,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, host, resolve);
  try {
    await promise;
  } catch (cause) {
    throw listenFailure(cause, { host, port }, option === undefined ? {} : { port: option });
  }
  server.off('error', reject);
}

async function drain(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await promise;
  clearTimeout(timer);
}
