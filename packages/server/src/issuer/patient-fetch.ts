/**
 * A request whose answer must not be lost: it has a connection of its own, and is listened to for as long as
 * its caller allows.
 *
 * @module
 */

import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Schedule } from '../time/schedule.ts';

/** There was no connection, or no TLS: nothing of the request can have reached the server. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** For name, connection and TLS together. */
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * TCP keep-alive, so that nothing in between forgets a connection that rests. A machine that stands still
 * does not confirm it, and goes on later with what it has received: such a connection is given up only
 * after eleven minutes.
 */
const KEEP_ALIVE = { delayMs: 60_000, intervalMs: 60_000, count: 10 };
/** Statuses whose answer has no body (Fetch standard, null body status). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Creates a fetch for requests that must not be sent twice.
 *
 * - Only `signal` ends the wait for an answer and its body: the runtime's own fetch has two limits of five
 *   minutes besides.
 * - Each request has a new connection. An idle one may have been closed at the other end, which cannot be
 *   distinguished from a request that was received; and a server that stands still does not come to the
 *   end of a TLS handshake, so that nothing is sent to it.
 * - Redirects are not followed, whatever `redirect` says. TLS is verified, and proxies of the environment
 *   are used, as the runtime does for every other request.
 *
 * Rejects with a {@link NotSentError} as long as nothing can have arrived, with the signal's reason, or with
 * the failure of the connection.
 */
export function createPatientFetch(schedule: Schedule): typeof fetch {
  const agents = { http: new http.Agent(proxied(http)), https: new https.Agent(proxied(https)) };

  return async (input, init) => {
    const request = new Request(input, init);
    const body = Buffer.from(await request.arrayBuffer());
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const { signal } = request;
    signal.throwIfAborted();
    const isSecure = new URL(request.url).protocol === 'https:';
    const sent = (isSecure ? https : http).request(request.url, {
      agent: isSecure ? agents.https : agents.http,
      method: request.method,
      headers: {
        ...Object.fromEntries(request.headers),
        'accept-encoding': 'identity',
        'content-length': body.length,
      },
    });
    let isConnected = false;
    const cancel = schedule(CONNECT_TIMEOUT_MS, () =>
      sent.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS / 1_000} s`)),
    );
    const giveUp = () => sent.destroy(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    sent.on('socket', (socket) =>
      whenConnected(socket, isSecure, () => {
        isConnected = true;
        cancel();
        keepAlive(socket);
      }),
    );
    sent.on('error', (cause) => {
      cancel();
      reject(isConnected ? cause : new NotSentError('nothing was sent', { cause }));
    });
    sent.on('upgrade', (_, socket) => socket.destroy());
    sent.on('close', () => {
      signal.removeEventListener('abort', giveUp);
      // Of no account once there is an answer, or another failure.
      reject(new Error('the connection ended without an answer'));
    });
    sent.on('response', (answer) => {
      try {
        resolve(toResponse(answer));
      } catch (cause) {
        reject(cause);
        sent.destroy();
      }
    });
    sent.end(body);
    return promise;
  };
}

/** A new connection for each request, by the proxies that the runtime was started with. */
function proxied({ globalAgent }: { readonly globalAgent: http.Agent }): http.AgentOptions {
  const { proxyEnv } = (globalAgent as { readonly options?: http.AgentOptions }).options ?? {};
  return { keepAlive: false, ...(proxyEnv === undefined ? {} : { proxyEnv }) };
}

/** Through a proxy the connection may stand already. */
function whenConnected(socket: Socket, isSecure: boolean, then: () => void): void {
  const isShakingHands = 'secureConnecting' in socket && socket.secureConnecting === true;
  if (socket.connecting || isShakingHands)
    socket.once(isSecure ? 'secureConnect' : 'connect', then);
  else then();
}

/** A runtime that does not take the interval gives up ten seconds after the delay: there it is left alone. */
function keepAlive(socket: Socket): void {
  if (socket.setKeepAlive.length < 4) return;
  socket.setKeepAlive(true, KEEP_ALIVE.delayMs, KEEP_ALIVE.intervalMs, KEEP_ALIVE.count);
}

/** @throws {RangeError} For a status that is none. */
function toResponse(answer: http.IncomingMessage): Response {
  const headers = new Headers();
  const { rawHeaders, statusCode = 0 } = answer;
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  const hasBody = !WITHOUT_BODY.has(statusCode);
  if (!hasBody) answer.resume();
  const body = hasBody ? (Readable.toWeb(answer) as ReadableStream<Uint8Array>) : null;
  return new Response(body, { status: statusCode, headers });
}
