/**
 * An HTTP/1.1 server of Node's that takes no more of a connection than it can work on.
 *
 * @module
 */

import type { ServerOptions } from 'node:http';
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limitUnread } from './unread-answers.ts';

/**
 * Requests of one connection that are under way at once. Browsers and proxies send the next one when
 * they have the answer; the few clients that do not gain nothing from more.
 */
export const PIPELINED_MAX = 8;

/** llhttp's `HPE_PAUSED`; what a callback of the parser returns to stop it there. */
const STOP = 21;
const CODE_OF_STOP = 'HPE_PAUSED';

/** The members of Node's parser that are used here. It stands on the socket while it reads HTTP. */
interface Parser {
  /** Takes a request whose headers have been read. Zero lets the parser go on. */
  onIncoming: (request: IncomingMessage, shouldKeepAlive: boolean) => number;
  resume: () => void;
  /** Not by the socket: Node takes no data from it while it waits for answers to leave. */
  execute: (bytes: Buffer) => unknown;
}

/** How Node answers a request it cannot read, when nothing else does. */
const STATUS_BY_CODE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What Node's own options have no name for. */
export interface Http1Limits {
  /** Milliseconds in which something of what waits for the client has to leave. */
  readonly stallMs: number;
}

/** Connections whose client waits with more, each with up to some 200 kB of it; further ones are closed. */
export const HOLDING_MAX = 512;
const holding = new Set<Pipeline>();
const pipelines = new WeakMap<Socket, Pipeline>();

/**
 * Creates the server. It may be fed sockets (`emit('connection')`) or listen by itself.
 *
 * Node reads a connection as fast as it can, and makes a request and an answer of all it finds: some
 * thousand of each in one piece of 64 KiB. Here the parser stops behind {@link PIPELINED_MAX} requests
 * that have no whole answer yet; what was read already goes back to the socket, which is not read
 * further until half of them are answered. Ordinary connections pay nothing for it.
 *
 * A client that does not take its answers is cut off.
 *
 * @see [RFC 9112 section 9.3.2](https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2) pipelining
 */
export function createHttp1Server(options: ServerOptions, { stallMs }: Http1Limits): Server {
  const server = createServer({ ...options, ServerResponse: PipelinedResponse });
  server.on('connection', (socket: Socket) => {
    const { parser } = socket as { parser?: Parser };
    if (parser !== undefined) pipelines.set(socket, new Pipeline(socket, parser));
  });
  limitUnread(server, stallMs);
  server.on('clientError', (error: Failure, socket) => {
    const pipeline = pipelines.get(socket as Socket);
    if (error.code === CODE_OF_STOP && pipeline !== undefined) pipeline.stopped(error);
    else refuse(error, socket as Socket, pipeline);
  });
  return server;
}

/** Node's description of a failure to read. */
interface Failure extends Error {
  readonly code?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

/** An answer that its connection knows of, those included that Node gives by itself. */
class PipelinedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  readonly #pipeline: Pipeline | undefined;

  constructor(request: Request, options?: object) {
    // Node's own second parameter, which its types do not show.
    super(...([request, options] as unknown as [Request]));
    this.#pipeline = pipelines.get(request.socket);
    this.#pipeline?.opened();
  }

  override assignSocket(socket: Socket): void {
    super.assignSocket(socket);
    this.#pipeline?.answering(this);
  }

  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    this.#pipeline?.closed();
  }
}

/** The requests of one connection. */
class Pipeline {
  readonly #socket: Socket;
  readonly #parser: Parser;
  #open = 0;
  #current: ServerResponse | undefined;
  #isStopped = false;
  #isHeld = false;
  #wasHeld = false;
  #isReleased = false;

  constructor(socket: Socket, parser: Parser) {
    this.#socket = socket;
    this.#parser = parser;
    const { onIncoming } = parser;
    parser.onIncoming = (request, shouldKeepAlive) => {
      const result = onIncoming(request, shouldKeepAlive);
      if (this.#open < PIPELINED_MAX || result !== 0) return result;
      this.#isStopped = true;
      return STOP;
    };
  }

  opened(): void {
    this.#open += 1;
  }

  answering(response: ServerResponse): void {
    this.#current = response;
  }

  closed(): void {
    this.#open -= 1;
    this.#current = undefined;
    if (this.#isHeld && this.#open <= PIPELINED_MAX / 2) this.#release();
  }

  /** Whether an answer has begun to leave, so that nothing else can be said on the connection. */
  get isAnswering(): boolean {
    return this.#current?.headersSent === true;
  }

  /** Takes back what the parser did not come to, and lets the connection rest. */
  stopped({ bytesParsed = 0, rawPacket = NOTHING }: Failure): void {
    const rest = this.#isStopped ? rawPacket.subarray(bytesParsed) : rawPacket;
    this.#isStopped = false;
    const socket = this.#socket;
    // A listener for data takes the reading from the parser back to the socket, which can wait.
    socket.on('data', ignore);
    socket.off('data', ignore);
    // The request that the parser stopped at is not complete for Node before the parser goes on.
    this.#parser.resume();
    this.#parser.execute(rawPacket.subarray(0, 0));
    socket.pause();
    if (!holding.has(this) && holding.size >= HOLDING_MAX) {
      socket.destroy();
      return;
    }
    holding.add(this);
    if (rest.length > 0) socket.unshift(rest);
    // Node lets a connection go on with each answer.
    if (!this.#wasHeld) {
      socket.on('resume', () => this.#isHeld && socket.pause());
      socket.once('close', () => holding.delete(this));
    }
    this.#wasHeld = true;
    this.#isHeld = true;
    if (this.#open <= PIPELINED_MAX / 2) this.#release();
  }

  /** In another turn of the event loop: what is here already must not keep others from theirs. */
  #release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    setImmediate(() => {
      this.#isReleased = false;
      this.#isHeld = false;
      holding.delete(this);
      // Node has reasons of its own to wait, and then goes on by itself.
      const { _paused: isPausedByNode } = this.#socket as { _paused?: boolean };
      if (isPausedByNode !== true) this.#socket.resume();
    });
  }
}

const NOTHING = Buffer.alloc(0);

/** Says what is wrong, where nothing has been said yet, and ends the connection, as Node would. */
function refuse(error: Failure, socket: Socket, pipeline: Pipeline | undefined): void {
  if (socket.writable && pipeline?.isAnswering !== true) {
    const status = STATUS_BY_CODE[error.code ?? ''] ?? '400 Bad Request';
    socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  }
  socket.destroy(error);
}

function ignore(): void {}
