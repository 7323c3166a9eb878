/**
 * The port that serves metrics and nothing else.
 *
 * @module
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { MetricsConfig } from '@sallyport/config';
import { METRICS_PATH } from '@sallyport/protocol';
import type { ListenKeys } from '@sallyport/server/listener';
import { createHttp1Server } from '@sallyport/server/listener/http1-server';
import { describeFailure, type Log } from '@sallyport/server/observe';

/** The text of a scrape, and what it is. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** A listener that answers. */
export interface MetricsListener {
  readonly port: number;
  /** Closes the port; answers under way are broken off. */
  close(): Promise<void>;
}

/** What the operator gives both by. */
const KEYS = { host: 'observe.metrics.host', port: 'observe.metrics.port' };
/** Longer than the usual interval of scrapes, so that a connection serves several. */
const KEEP_ALIVE_MS = 75_000;
/** Head and body of a request have to be here by then. */
const REQUEST_MS = 5_000;
/** A connection on which nothing moves for so long, an answer under way included. */
const IDLE_MS = 90_000;
const HEADER_MAX_BYTES = 8_192;
/** Far more than a pair of scrapers has. */
const CONNECTIONS_MAX = 32;
const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/**
 * Listens. Every client that can connect may read: bind the port where only the scraper can connect.
 *
 * @param expose - Asked at most once at a time, however many scrape.
 * @param keys - What the operator gives host and port by.
 *
 * @throws {SallyportError} `SP_PORT_IN_USE` when the port is taken, `SP_LISTEN_FAILED` when it cannot be had.
 */
export async function listenForScrapes(
  { host, port }: MetricsConfig,
  expose: () => Promise<Exposition>,
  log: Log,
  keys: ListenKeys = KEYS,
): Promise<MetricsListener> {
  let underWay: Promise<Exposition> | undefined;
  /** The one that was heard of longest ago first. */
  const connections = new Set<Socket>();
  const server = createHttp1Server(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: REQUEST_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: HEADER_MAX_BYTES,
    },
    { stallMs: IDLE_MS },
  );
  server.on('request', (req, res) => {
    heardOf(req.socket);
    void answer(req, res);
  });
  server.setTimeout(IDLE_MS);
  server.on('connection', (socket) => {
    heardOf(socket);
    socket.once('close', () => connections.delete(socket));
    // Idle connections must not lock the scraper out.
    const [oldest] = connections;
    if (connections.size > CONNECTIONS_MAX) oldest?.destroy();
  });
  await listening(server, host, port, keys);
  // Out of file descriptors, a connection cannot be taken: the next one perhaps can.
  server.on('error', (cause) => log('error', 'scrape_failed', { failure: describeFailure(cause) }));
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };

  function heardOf(socket: Socket): void {
    connections.delete(socket);
    connections.add(socket);
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (pathOf(req) !== METRICS_PATH) return refuse(res, 404, {});
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return refuse(res, 405, { allow: 'GET, HEAD' });
    try {
      underWay ??= expose().finally(() => {
        underWay = undefined;
      });
      const { contentType, text } = await underWay;
      const length = String(Buffer.byteLength(text));
      const headers = { 'content-type': contentType, 'content-length': length };
      res.writeHead(200, { ...COMMON_HEADERS, ...headers });
      // Of an answer to HEAD node:http leaves out the body itself.
      res.end(text);
    } catch (cause) {
      log('error', 'scrape_failed', { failure: describeFailure(cause) });
      refuse(res, 500, {});
    }
  }
}

/** What was sent with the request is not read: the connection ends with the answer. */
function refuse(
  res: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
): void {
  res.writeHead(status, {
    ...COMMON_HEADERS,
    ...headers,
    'content-length': '0',
    connection: 'close',
  });
  res.end();
}

/** The query is ignored; Prometheus sends one if it is configured with parameters. */
function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

async function listening(
  server: Server,
  host: string,
  port: number,
  keys: ListenKeys,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ host, port, exclusive: true }, resolve);
  try {
    await promise;
  } catch (cause) {
    // Loaded for the message alone: the process that starts workers has no use for the rest of it.
    const { listenFailure } = await import('@sallyport/server/listener');
    throw listenFailure(cause, { host, port }, keys);
  }
  server.off('error', reject);
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
