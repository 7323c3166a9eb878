/**
 * A fetch by node:http and node:https. The runtime's own loads a second HTTP client with a parser in WebAssembly: 9 to
 * 13 MiB that a service does not need for the few requests it sends.
 *
 * @module
 */

import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { type Duplex, pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Schedule } from '../time/schedule.ts';
import { type AgentRequestOptions, createAgents } from './outgoing-agents.ts';

/** There was no connection, or no TLS: nothing of the request can have reached the server. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** There was no connection in time. With the code that the system has for it. */
class ConnectTimeout extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super(`no connection within ${CONNECT_TIMEOUT_MS / 1_000} s`);
  }
}

/** What {@link createHttpFetch} needs. */
export interface HttpFetchOptions {
  readonly schedule: Schedule;
  /** How long connections are kept; proxies are added. */
  readonly connections: Pick<http.AgentOptions, 'keepAlive' | 'timeout'>;
  /** Gets the connection of each request once it stands. */
  readonly onConnected?: (socket: Socket) => void;
}

/** For name, connection and TLS together. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Statuses whose answer has no body (Fetch standard, null body status). */
export const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
/** Answers with a status of 1xx before the one that counts. A server may send them for as long as the request waits. */
const MAX_INTERIM_ANSWERS = 16;
/** As the runtime's own fetch sends them. Answers are asked for as they are, and unpacked where they come packed. */
const HEADERS = { accept: '*/*', 'user-agent': 'node', 'accept-encoding': 'identity' };
const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createUnzip,
  'x-gzip': createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
};

/**
 * Creates the fetch.
 *
 * - Only the signal of `init` ends the wait for an answer and its body: the runtime's own fetch has two limits of five
 *   minutes besides. That of a `Request` in the place of the address is not looked at.
 * - Redirects are not followed, whatever `redirect` says. TLS is verified, and proxies of the environment
 *   are used, as the runtime does for every other request.
 *
 * Rejects with a {@link NotSentError} as long as nothing can have arrived, with the signal's reason, or with
 * the failure of the connection.
 */
export function createHttpFetch({
  schedule,
  connections,
  onConnected,
}: HttpFetchOptions): typeof fetch {
  const agents = createAgents(connections);

  return async (input, init) => {
    const signal = init?.signal ?? undefined;
    signal?.throwIfAborted();
    // Without the signal: a request follows it only until it is collected itself.
    const request = new Request(input, { ...init, signal: null });
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    // It may have fallen while the body was read: a signal tells only once.
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const isSecure = new URL(request.url).protocol === 'https:';
    let begun: Duplex | undefined;
    const options: AgentRequestOptions = {
      agent: isSecure ? agents.https : agents.http,
      method: request.method,
      headers: {
        ...HEADERS,
        ...Object.fromEntries(request.headers),
        ...(body === undefined ? {} : { 'content-length': body.length }),
      },
      onBegun: (connection) => (begun = connection),
    };
    const sent = (isSecure ? https : http).request(request.url, options);
    let isConnected = false;
    let answered: http.IncomingMessage | undefined;
    const fail = (cause: unknown) => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
      reject(isConnected ? cause : new NotSentError('nothing was sent', { cause }));
      // Nothing else ends a connection to a proxy: the request has none before the tunnel stands.
      if (sent.socket === null) begun?.destroy();
    };
    const giveUp = (cause: Error) => {
      (answered ?? sent).destroy(cause);
      // The request itself says nothing before it has a connection.
      if (sent.socket === null) fail(cause);
    };
    const onAbort = () => giveUp(signal?.reason as Error);
    const cancel = schedule(CONNECT_TIMEOUT_MS, () => giveUp(new ConnectTimeout()));
    signal?.addEventListener('abort', onAbort, { once: true });
    sent.on('socket', (socket) =>
      whenConnected(socket, () => {
        isConnected = true;
        cancel();
        onConnected?.(socket);
      }),
    );
    sent.on('error', fail);
    sent.on('upgrade', (_, socket) => socket.destroy());
    let interimAnswers = 0;
    sent.on('information', () => {
      interimAnswers += 1;
      if (interimAnswers > MAX_INTERIM_ANSWERS) sent.destroy(new Error('too many interim answers'));
    });
    sent.on('close', () => {
      signal?.removeEventListener('abort', onAbort);
      // Of no account once there is an answer, or another failure.
      reject(new Error('the connection ended without an answer'));
    });
    sent.on('response', (answer) => {
      answered = answer;
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

/** A connection that is used again, or through a proxy, may stand already. */
function whenConnected(socket: Socket, then: () => void): void {
  const isSecure = 'secureConnecting' in socket;
  if (socket.connecting || (isSecure && socket.secureConnecting === true))
    socket.once(isSecure ? 'secureConnect' : 'connect', then);
  else then();
}

/** @throws {RangeError} For a status that is none. */
function toResponse(answer: http.IncomingMessage): Response {
  const headers = new Headers();
  const { rawHeaders, statusCode = 0 } = answer;
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  const hasBody = !WITHOUT_BODY.has(statusCode);
  // A body that comes all the same, with 205, may have no end.
  if (!hasBody) answer.destroy();
  const body = hasBody ? (Readable.toWeb(unpack(answer)) as ReadableStream<Uint8Array>) : null;
  return new Response(body, { status: statusCode, headers });
}

/** Some servers pack what they were not asked to. The reader bounds what comes out: it is unpacked as it is read. */
function unpack(answer: http.IncomingMessage): Readable {
  const coding = answer.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const unpacker = Object.hasOwn(UNPACKERS, coding) ? UNPACKERS[coding]?.() : undefined;
  // The failure is the reader's, which gets it by the stream.
  return unpacker === undefined ? answer : pipeline(answer, unpacker, () => undefined);
}
