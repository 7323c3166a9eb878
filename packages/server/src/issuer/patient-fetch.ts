/**
 * A request whose answer must not be lost: it has a connection of its own, and is listened to for as long as
 * its caller allows.
 *
 * @module
 */

import type { Socket } from 'node:net';
import type { Schedule } from '../time/schedule.ts';
import { createHttpFetch } from './http-fetch.ts';

/**
 * TCP keep-alive, so that nothing in between forgets a connection that rests. A machine that stands still
 * does not confirm it, and goes on later with what it has received: such a connection is given up only
 * after eleven minutes.
 */
const KEEP_ALIVE = { delayMs: 60_000, intervalMs: 60_000, count: 10 };

/**
 * Creates a fetch for requests that must not be sent twice, as `createHttpFetch` describes it.
 *
 * Each request has a new connection. An idle one may have been closed at the other end, which cannot be
 * distinguished from a request that was received; and a server that stands still does not come to the
 * end of a TLS handshake, so that nothing is sent to it.
 *
 * Rejects with a `NotSentError` as long as nothing can have arrived.
 */
export function createPatientFetch(schedule: Schedule): typeof fetch {
  return createHttpFetch({
    schedule,
    connections: { keepAlive: false },
    onConnected: keepAlive,
  });
}

/** A runtime that does not take the interval gives up ten seconds after the delay: there it is left alone. */
function keepAlive(socket: Socket): void {
  if (socket.setKeepAlive.length < 4) return;
  socket.setKeepAlive(true, KEEP_ALIVE.delayMs, KEEP_ALIVE.intervalMs, KEEP_ALIVE.count);
}
