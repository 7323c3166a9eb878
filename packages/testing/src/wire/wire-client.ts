/**
 * A client that writes the bytes itself.
 *
 * @module
 */

import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Opens a TCP connection that ends with the test. */
export function dial(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Sends bytes and resolves to all that came back, once the other side has closed the connection. */
export function talk(port: number, sent: string | Buffer): Promise<string> {
  const socket = dial(port);
  socket.write(sent);
  return drainSocket(socket);
}

/** Resolves to all that a socket receives until it is closed. */
export function drainSocket(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.once('end', () => socket.end());
  });
}
