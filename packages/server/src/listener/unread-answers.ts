/**
 * Ends HTTP/1.1 connections whose client does not take its answers.
 *
 * @module
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How often a connection is looked at, as a part of the limit. */
const LOOKS_PER_LIMIT = 4;

/** What a look at a connection found, and how often since. */
interface Mark {
  written: number;
  waiting: number;
  looks: number;
}

/**
 * Looks at all connections of a server now and then. One on which something waits to be taken and nothing
 * has moved within `stallMs` is closed; Node has no limit for it once the answer has begun.
 *
 * A connection with nothing to send is not touched, nor one that has left HTTP for another protocol.
 *
 * @param stallMs - Milliseconds. The end comes in the last quarter of them.
 */
export function limitUnread(server: Server, stallMs: number): void {
  const marks = new Map<Socket, Mark>();
  server.on('connection', (socket: Socket) => {
    marks.set(socket, { written: 0, waiting: 0, looks: 0 });
    socket.once('close', () => marks.delete(socket));
  });
  const timer = setInterval(() => {
    for (const [socket, mark] of marks) look(socket, mark);
  }, stallMs / LOOKS_PER_LIMIT);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

function look(socket: Socket, mark: Mark): void {
  const { bytesWritten, writableLength } = socket;
  // What was handed to the system as one piece leaves bit by bit.
  const { parser, _handle: handle } = socket as {
    parser?: unknown;
    _handle?: { writeQueueSize?: number } | null;
  };
  const waiting = writableLength + (handle?.writeQueueSize ?? 0);
  const isSame = bytesWritten === mark.written && waiting === mark.waiting;
  Object.assign(mark, { written: bytesWritten, waiting, looks: isSame ? mark.looks + 1 : 0 });
  const isLeft = writableLength > 0 && mark.looks >= LOOKS_PER_LIMIT - 1;
  if (isLeft && parser !== null && parser !== undefined) socket.destroy();
}
