/**
 * Which connection makes way when there are too many.
 *
 * @module
 */

import type { Socket } from 'node:net';

/**
 * Connections of one port at once: some hundred people a replica and an ingress have far fewer, and each
 * costs memory that its client does not pay for.
 */
export const CONNECTIONS_MAX = 8_192;

/**
 * Closes one connection, the one that is missed least: the oldest that has said nothing yet, otherwise
 * the oldest that rests between two requests, otherwise the newest. Clients that hold connections without
 * a use for them do not keep others out; clients that use all of them do, and are served.
 *
 * @param connections - In the order of their arrival, the newest included.
 * @param undecided - Those of them that have said nothing yet.
 */
export function makeRoom(connections: Iterable<Socket>, undecided: Iterable<Socket>): void {
  const [silent] = undecided;
  let newest: Socket | undefined;
  let resting: Socket | undefined;
  for (const socket of connections) {
    newest = socket;
    // HTTP/1.1 limits the rest of a connection by the socket's own time-out, which the next request lifts.
    if ((socket.timeout ?? 0) > 0) resting ??= socket;
  }
  const leaving = silent !== undefined && silent !== newest ? silent : (resting ?? newest);
  leaving?.destroy();
}
