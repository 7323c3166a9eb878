/**
 * The exchange over HTTP/1.1.
 *
 * @module
 */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { HeaderPair } from '@sallyport/protocol';
import { type Exchange, spellAddress, type Upgrade } from './exchange.ts';

/** What {@link Http1Exchange} is made from. */
export interface Http1ExchangeParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly expectsContinue: boolean;
  readonly upgrade: Upgrade | undefined;
  /** Milliseconds the rest of a request may take once its answer is complete. */
  readonly lingerMs: number;
}

/** One HTTP/1.1 request and response. */
export class Http1Exchange implements Exchange {
  readonly version = 'http/1';
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly peerAddress: string;
  readonly body: Readable | undefined;
  readonly upgrade: Upgrade | undefined;
  readonly stream = undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #expectsContinue: boolean;

  constructor(parts: Http1ExchangeParts) {
    const { request, response, socket, expectsContinue, upgrade, lingerMs } = parts;
    this.#request = request;
    this.#response = response;
    this.#socket = socket;
    this.#expectsContinue = expectsContinue;
    this.method = request.method ?? '';
    this.target = request.url ?? '';
    this.headers = request.headers;
    this.rawHeaders = request.rawHeaders;
    this.peerAddress = spellAddress(socket.remoteAddress);
    this.upgrade = upgrade;
    this.body = hasBody(request.headers) ? request : undefined;
    response.on('error', ignore);
    if (this.body !== undefined) response.once('finish', () => this.#linger(lingerMs));
  }

  get isBodyWhole(): boolean {
    return this.#request.complete;
  }

  get isAnswered(): boolean {
    return this.#response.headersSent;
  }

  get isClosed(): boolean {
    return this.#response.closed || this.#socket.destroyed;
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#response.once('close', listener);
  }

  sendContinue(): void {
    if (this.#expectsContinue) this.#response.writeContinue();
  }

  sendEarlyHints(links: readonly string[]): void {
    if (this.isAnswered || this.#request.httpVersionMinor === 0) return;
    try {
      this.#response.writeEarlyHints({ link: [...links] });
    } catch {
      // A hint is optional, and Node takes well-formed Link values only.
    }
  }

  begin(status: number, headers: readonly HeaderPair[]): Writable {
    this.#response.writeHead(status, headers.flat());
    return this.#response;
  }

  flush(): void {
    this.#response.flushHeaders();
  }

  send(status: number, headers: readonly HeaderPair[], body: string): void {
    const length = String(Buffer.byteLength(body));
    this.#response.writeHead(status, [...headers.flat(), 'content-length', length]);
    this.#response.end(body);
  }

  reset(): void {
    // A plain FIN would complete a body that ends with its connection (HTTP/1.0 clients).
    if (this.#socket instanceof TLSSocket) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  /** Keeps an answered client from sending for ever: what is left of its body must come soon. */
  #linger(lingerMs: number): void {
    if (this.#request.complete) return;
    const timer = setTimeout(() => this.#socket.destroy(), lingerMs);
    this.#request.once('close', () => clearTimeout(timer));
    this.#request.resume();
  }
}

/** RFC 9112 section 6.3: in a request only these two announce a body. */
function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** A failed write shows in `close`. */
function ignore(): void {}
