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
 * The connection that was closed: `silent` had said nothing yet, `idle` had no request under way, `newest` is refused because all
 * others are used.
 */
export type ClosedConnection = 'silent' | 'idle' | 'newest';

/**
 * Closes one connection, the one that is missed least: the oldest that has said nothing yet, otherwise
 * the first that rests between two requests, otherwise the newest. Clients that hold connections without
 * a use for them do not keep others out; clients that use all of them do, and are served.
 *
 * @param connections - In the order of their arrival or of their last use, the newest included.
 * @param undecided - Those of them that have said nothing yet.
 * @param isResting - Whether a connection has no request under way.
 */
export function makeRoom(
  connections: Iterable<Socket>,
  undecided: Iterable<Socket>,
  isResting: (connection: Socket) => boolean,
): ClosedConnection {
  const [silent] = undecided;
  let newest: Socket | undefined;
  let resting: Socket | undefined;
  for (const socket of connections) {
    newest = socket;
    if (isResting(socket)) resting ??= socket;
  }
  const isSilent = silent !== undefined && silent !== newest;
  const leaving = isSilent ? silent : (resting ?? newest);
  leaving?.destroy();
  if (isSilent) return 'silent';
  return resting === undefined ? 'newest' : 'idle';
}

/** HTTP/1.1 limits the rest of a connection by the socket's own time-out, which the next request lifts. */
export function isBetweenRequests(socket: Socket): boolean {
  return (socket.timeout ?? 0) > 0;
}
