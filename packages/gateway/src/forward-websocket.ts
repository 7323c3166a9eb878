/**
 * Joins the two halves of a WebSocket once the backend has agreed to it.
 *
 * @module
 */

import type { Duplex } from 'node:stream';
import type { HeaderPair } from '@sallyport/protocol';
import type { Upgrade } from './exchange.ts';

/** What {@link joinWebSocket} needs beside the two sockets. */
export interface JoinOptions {
  /** The backend's response headers, hop-by-hop fields already dropped. */
  readonly headers: readonly HeaderPair[];
  /** Milliseconds the second half may stay open after the first has ended. */
  readonly lingerMs: number;
}

/**
 * Sends the 101 and copies bytes both ways until either side ends. Frames are not looked at.
 *
 * No time-out applies while both are open: a quiet WebSocket is a healthy one, and dead peers are
 * found by TCP keep-alive.
 *
 * @see [RFC 6455 section 4.2.2](https://www.rfc-editor.org/rfc/rfc6455#section-4.2.2) server handshake
 */
export function joinWebSocket(
  { socket, head }: Upgrade,
  upstream: Duplex,
  { headers, lingerMs }: JoinOptions,
): void {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${lines}\r\n`,
    'latin1',
  );
  if (head.length > 0) upstream.write(head);
  copy(socket, upstream);
  copy(upstream, socket);

  function copy(from: Duplex, to: Duplex): void {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.once('end', () => {
      const timer = setTimeout(() => to.destroy(), lingerMs);
      to.once('close', () => clearTimeout(timer));
    });
    from.once('close', () => {
      if (!from.readableEnded) to.destroy();
    });
  }
}
