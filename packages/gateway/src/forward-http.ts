/**
 * Forwards HTTP requests, of either version, to HTTP/1.1 backends.
 *
 * @module
 */

import { type Duplex, PassThrough, type Readable, type Writable } from 'node:stream';
import { type Dispatcher, errors, Pool } from 'undici';
import { type BackendPlaces, createBackendPlaces } from './backend-places.ts';
import type { Exchange } from './exchange.ts';
import { joinWebSocket } from './forward-websocket.ts';
import type { Forwarding } from './forwarding.ts';
import type { Log } from './log.ts';
import { type ProblemReason, sendProblem } from './problem.ts';
import { flattenHeaders, selectClientHeaders } from './response-headers.ts';
import type { GatewayTimeouts } from './timeouts.ts';

/** Passes a request on and its answer back. */
export type ForwardHttp = (forwarding: Forwarding) => void;

/** What {@link createHttpForwarder} needs. */
export interface HttpForwarderOptions {
  readonly publicOrigin: URL;
  readonly timeouts: GatewayTimeouts;
  readonly log: Log;
}

/** The forwarder and its connections. */
export interface HttpForwarder {
  readonly forward: ForwardHttp;
  /** Breaks off whatever is under way. */
  destroy(): Promise<void>;
}

/**
 * Creates the forwarder: a pool of kept-alive connections for each backend.
 *
 * Bodies stream both ways with back-pressure. An abort travels both ways too: a client that goes away
 * ends the backend's request, and a backend that breaks off resets the client's stream or connection,
 * so that half an answer never looks whole. Nothing is sent twice.
 *
 * When all connections to a backend are in use, a request waits here for a moment, and not for its
 * client's sake alone: one that goes away leaves the line.
 */
export function createHttpForwarder(options: HttpForwarderOptions): HttpForwarder {
  const { publicOrigin, timeouts, log } = options;
  const backendByOrigin = new Map<string, Backend>();

  return {
    forward(forwarding) {
      const { exchange, requestId, setCookie } = forwarding;
      const { pool, places } = backendOf(forwarding.origin);
      let relay: ResponseRelay | undefined;
      const leave = places.enter({
        start() {
          relay = new ResponseRelay(forwarding, timeouts, log, () => leave());
          dispatch(pool, forwarding, relay);
        },
        refused() {
          const { backend } = forwarding.group;
          log('gateway.upstream_failed', {
            request_id: requestId,
            backend,
            reason: 'upstream_busy',
          });
          sendProblem(exchange, 'upstream_busy', { requestId, setCookie });
        },
      });
      // One that has started keeps its place until the connection is free again.
      exchange.onClose(() => {
        if (relay === undefined) leave();
      });
    },
    async destroy() {
      await Promise.all([...backendByOrigin.values()].map(({ pool }) => pool.destroy()));
    },
  };

  function dispatch(pool: Pool, forwarding: Forwarding, relay: ResponseRelay): void {
    const { exchange, target, group, headers } = forwarding;
    const isUnlimited = group.streaming;
    try {
      pool.dispatch(
        {
          path: target,
          method: exchange.method,
          headers: [...headers.flat(), 'host', publicOrigin.host],
          body: openBody(exchange, isUnlimited ? undefined : timeouts.clientBodyMs),
          headersTimeout: isUnlimited ? 0 : timeouts.upstreamHeadersMs,
          bodyTimeout: isUnlimited ? 0 : timeouts.upstreamIdleMs,
          ...(exchange.upgrade === undefined ? {} : { upgrade: 'websocket' }),
        },
        relay,
      );
    } catch (error) {
      relay.onResponseError(null, error);
    }
  }

  function backendOf(origin: string): Backend {
    let backend = backendByOrigin.get(origin);
    if (backend === undefined) {
      backend = {
        pool: new Pool(origin, {
          allowH2: false,
          connections: CONNECTIONS_MAX,
          maxHeaderSize: HEADER_BYTES_MAX,
          connect: { timeout: timeouts.upstreamConnectMs },
        }),
        places: createBackendPlaces({
          placesMax: CONNECTIONS_MAX,
          waitingMax: WAITING_MAX,
          waitMs: timeouts.upstreamConnectMs,
        }),
      };
      backendByOrigin.set(origin, backend);
    }
    return backend;
  }
}

/** Its connections, and who uses them. */
interface Backend {
  readonly pool: Pool;
  readonly places: BackendPlaces;
}

/** To one backend; more requests wait for one of them. */
const CONNECTIONS_MAX = 1_024;
/** For a connection to one backend; more are refused. */
const WAITING_MAX = 1_024;
/** Of a backend's answer. */
const HEADER_BYTES_MAX = 32 * 1024;

/** Between client and backend, twice; the client's own buffers come on top of it. */
const BODY_BUFFER_BYTES = 16 * 1024;

/** Takes one answer from undici to the client. */
class ResponseRelay implements Dispatcher.DispatchHandler {
  readonly #forwarding: Forwarding;
  readonly #timeouts: GatewayTimeouts;
  readonly #log: Log;
  readonly #over: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #sink: Writable | undefined;
  #hasBody = false;
  #stall: NodeJS.Timeout | undefined;

  /** @param onOver - Called when the backend's connection has nothing to do with the request any more. */
  constructor(forwarding: Forwarding, timeouts: GatewayTimeouts, log: Log, onOver: () => void) {
    this.#forwarding = forwarding;
    this.#timeouts = timeouts;
    this.#log = log;
    // The pool takes the connection back only after its end callback has returned.
    this.#over = () => queueMicrotask(onOver);
    forwarding.exchange.onClose(() => this.#stop());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#forwarding.exchange.isClosed) this.#stop();
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    _status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    socket: Duplex,
  ): void {
    const { exchange, setCookie } = this.#forwarding;
    const { upgrade } = exchange;
    this.#over();
    if (upgrade === undefined || exchange.isClosed) {
      socket.destroy();
      return;
    }
    this.#controller = undefined;
    joinWebSocket(upgrade, socket, {
      headers: selectClientHeaders(flattenHeaders(headers), setCookie),
      lingerMs: this.#timeouts.lingerMs,
    });
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    const { exchange, setCookie } = this.#forwarding;
    if (status < 200) {
      const { link = [] } = headers;
      if (status === 103) exchange.sendEarlyHints(typeof link === 'string' ? [link] : link);
      return;
    }
    const sink = exchange.begin(status, selectClientHeaders(flattenHeaders(headers), setCookie));
    this.#sink = sink;
    sink.on('drain', () => {
      clearTimeout(this.#stall);
      controller.resume();
    });
    // Body that came in one piece with the headers leaves with them; a stream's may be long in coming.
    queueMicrotask(() => {
      if (!this.#hasBody && !exchange.isClosed) exchange.flush();
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#hasBody = true;
    if (this.#sink === undefined || this.#sink.write(chunk)) return;
    controller.pause();
    const { exchange, group } = this.#forwarding;
    clearTimeout(this.#stall);
    if (!group.streaming)
      this.#stall = setTimeout(() => exchange.reset(), this.#timeouts.clientStallMs);
  }

  onResponseEnd(): void {
    this.#hasBody = true;
    this.#sink?.end();
    this.#over();
  }

  /** Answers for a backend that did not. */
  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    this.#over();
    const { exchange, group, requestId, setCookie } = this.#forwarding;
    if (exchange.isClosed) return;
    const reason = problemReasonOf(error);
    this.#log('gateway.upstream_failed', {
      request_id: requestId,
      backend: group.backend,
      reason,
      error: codeOf(error),
    });
    sendProblem(exchange, reason, { requestId, setCookie });
  }

  #stop(): void {
    clearTimeout(this.#stall);
    this.#controller?.abort(new ClientGone());
  }
}

/** Why a backend's request is broken off when its client has gone. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
  readonly code = 'CLIENT_GONE';
}

/** Why a backend's request is broken off when its client stopped sending. */
class BodyStalled extends Error {
  override readonly name = 'BodyStalled';
  readonly code = 'BODY_STALLED';
}

/**
 * Puts a stream of its own between client and backend: undici destroys the body it was given when the
 * backend fails, and with the client's own stream the connection would go that still has to carry the
 * answer.
 */
function openBody(exchange: Exchange, stallMs: number | undefined): Readable | null {
  const { body } = exchange;
  if (body === undefined) return null;
  const copy = new PassThrough({ highWaterMark: BODY_BUFFER_BYTES });
  copy.on('error', ignore);
  copy.once('close', () => {
    body.unpipe(copy);
    body.resume();
  });
  body.once('close', () => {
    if (!body.readableEnded) copy.destroy(new ClientGone());
  });
  body.once('end', () => {
    if (exchange.isBodyWhole) copy.end();
    else copy.destroy(new ClientGone());
  });
  exchange.sendContinue();
  if (stallMs !== undefined) limitStall(body, copy, stallMs);
  return body.pipe(copy, { end: false });
}

/** Breaks off a body whose client sends nothing more: each one holds a connection to the backend. */
function limitStall(body: Readable, copy: PassThrough, stallMs: number): void {
  const timer = setTimeout(() => {
    // While the backend takes nothing, the client cannot be the one to blame.
    if (copy.writableNeedDrain) timer.refresh();
    else copy.destroy(new BodyStalled());
  }, stallMs);
  timer.unref();
  body.on('data', () => timer.refresh());
  body.once('end', () => clearTimeout(timer));
  copy.once('close', () => clearTimeout(timer));
}

function problemReasonOf(error: unknown): ProblemReason {
  if (error instanceof BodyStalled) return 'request_timeout';
  if (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  )
    return 'upstream_timeout';
  if (
    error instanceof errors.InvalidArgumentError ||
    error instanceof errors.RequestContentLengthMismatchError
  )
    return 'request_malformed';
  return 'upstream_unreachable';
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** The relay reports the failure. */
function ignore(): void {}
