/**
 * Listening for the callback on every loopback address a browser may use.
 *
 * @module
 */

import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import { findPortHolder } from './port-holder.ts';
import type { LoopbackRedirect } from './redirect-uri.ts';

/** Listeners that are open. */
export interface LoopbackListeners {
  /** Whether connections that said nothing were ended to make room for others. */
  isCrowded(): boolean;
  /** Ends them and every connection. Safe to call twice. */
  close(): Promise<void>;
}

/** A callback is small, and browsers send it at once. */
const LIMITS = {
  maxHeaderSize: 32_768,
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  keepAlive: false,
} as const;
/**
 * Idle connections of one address. A browser sends its request as soon as it is connected, so it needs
 * its place for a moment; an attacker has to open this many connections in that moment to displace it.
 */
const IDLE_MAX = 256;

/**
 * Listens on all of the redirect's addresses, or on none.
 *
 * A machine without IPv6 is served on IPv4 alone. An address that another process holds is a conflict
 * even if the other address is free: the browser may take either, and the other process could get the code.
 *
 * Every process on this machine can connect. Connections without a request end after five seconds; if there are
 * too many, the oldest of them are closed first, so that idle connections do not keep the browser out.
 *
 * @returns The listeners; otherwise `redirect_port_in_use`, with the holder where it is known, or
 *   `redirect_port_unusable`.
 */
export async function listenLoopback(
  redirect: LoopbackRedirect,
  handler: RequestListener,
): Promise<Result<LoopbackListeners, TokenRefusal>> {
  const { addresses, port } = redirect;
  const servers: Server[] = [];
  let isCrowded = false;
  const onShed = (): void => {
    isCrowded = true;
  };
  const close = async (): Promise<void> => {
    await Promise.all(servers.splice(0).map(closeServer));
  };
  for (const address of addresses) {
    const server = createServer(LIMITS, handler);
    shedIdle(server, onShed);
    const code = await listen(server, address, port);
    if (code === undefined) {
      servers.push(server);
      continue;
    }
    const isAbsent = code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT';
    if (isAbsent && address === '::1' && servers.length > 0) continue;
    await close();
    return refuse(code === 'EADDRINUSE' ? await inUse(address, port) : unusable(port, code));
  }
  return accept({ close, isCrowded: () => isCrowded });
}

/** Ends the connection that has been without a request for longest when there are too many such. */
function shedIdle(server: Server, onShed: () => void): void {
  // A set keeps the order of arrival.
  const idle = new Set<Socket>();
  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
    if (idle.size <= IDLE_MAX) return;
    const [oldest] = idle;
    if (oldest === undefined) return;
    idle.delete(oldest);
    oldest.destroy();
    onShed();
  });
  // Each answer ends its connection, so one that had a request is never idle again.
  server.on('request', ({ socket }) => idle.delete(socket));
}

function listen(server: Server, host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen({ host, port, exclusive: true }, () => {
      server.removeAllListeners('error');
      // A connection that fails later must not end the process.
      server.on('error', () => {});
      resolve(undefined);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function inUse(address: string, port: number): Promise<TokenRefusal> {
  const holder = await findPortHolder(port);
  const place = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  const who =
    holder === undefined
      ? 'another process, which may be another user’s'
      : `process ${holder.pid}${holder.name === '' ? '' : ` (${holder.name})`}`;
  return {
    error: 'redirect_port_in_use',
    description: `The identity provider sends the browser back to port ${port}, and ${place} is held by ${who}.`,
    hint: 'Finish or end the other sign-in, or sign in with a device code. The port is fixed by registration.',
  };
}

function unusable(port: number, code: string): TokenRefusal {
  return {
    error: 'redirect_port_unusable',
    description: `The identity provider sends the browser back to port ${port}, which cannot be listened on (${code}).`,
    hint: 'Sign in with a device code.',
  };
}
