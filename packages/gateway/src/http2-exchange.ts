/**
 * The exchange over HTTP/2.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import {
  constants,
  type IncomingHttpHeaders as Http2Headers,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Readable, Writable } from 'node:stream';
import type { HeaderPair } from '@sallyport/protocol';
import type { Exchange } from './exchange.ts';
import { resetStream } from './reset-stream.ts';

/** RFC 8297; Node has no constant for it. */
const EARLY_HINTS = 103;

/** One HTTP/2 stream. */
export class Http2Exchange implements Exchange {
  readonly version = 'http/2';
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly peerAddress: string;
  readonly body: Readable | undefined;
  readonly upgrade = undefined;
  readonly stream: ServerHttp2Stream;

  constructor(
    stream: ServerHttp2Stream,
    headers: Http2Headers,
    rawHeaders: readonly string[],
    peerAddress: string,
    lingerMs: number,
  ) {
    this.stream = stream;
    this.method = headers[':method'] ?? '';
    this.target = headers[':path'] ?? '';
    this.rawHeaders = withoutPseudoHeaders(rawHeaders, headers[':authority']);
    headers.host ??= headers[':authority'];
    this.headers = headers;
    this.peerAddress = peerAddress;
    this.body = stream.endAfterHeaders ? undefined : stream;
    stream.on('error', ignore);
    if (this.body !== undefined) stream.once('finish', () => this.#linger(lingerMs));
  }

  get isBodyWhole(): boolean {
    return this.stream.rstCode === constants.NGHTTP2_NO_ERROR;
  }

  get isAnswered(): boolean {
    return this.stream.headersSent;
  }

  get isClosed(): boolean {
    return this.stream.closed || this.stream.destroyed;
  }

  onClose(listener: () => void): void {
    if (this.stream.destroyed) listener();
    else this.stream.once('close', listener);
  }

  sendContinue(): void {
    if (this.headers.expect?.toLowerCase() === '100-continue' && !this.isClosed)
      this.stream.additionalHeaders({ ':status': constants.HTTP_STATUS_CONTINUE });
  }

  sendEarlyHints(links: readonly string[]): void {
    if (this.isAnswered || this.isClosed) return;
    this.stream.additionalHeaders({
      ':status': EARLY_HINTS,
      link: [...links],
    });
  }

  begin(status: number, headers: readonly HeaderPair[]): Writable {
    this.stream.respond([':status', String(status), ...headers.flat()]);
    return this.stream;
  }

  send(status: number, headers: readonly HeaderPair[], body: string): void {
    const length: HeaderPair = ['content-length', String(Buffer.byteLength(body))];
    const isBodyless = body === '' || this.method === 'HEAD';
    this.stream.respond(
      [':status', String(status), ...headers.flat(), ...(body === '' ? [] : length)],
      { endStream: isBodyless },
    );
    if (!isBodyless) this.stream.end(body);
  }

  flush(): void {
    // A HEADERS frame waits for nothing.
  }

  reset(): void {
    resetStream(this.stream, constants.NGHTTP2_INTERNAL_ERROR);
  }

  /**
   * RFC 9113 section 8.1: a complete answer may ask the client to stop sending, without an error. Not at
   * once, since a reset overtakes an answer that has not left yet, and the client would get none.
   */
  #linger(lingerMs: number): void {
    const { stream } = this;
    if (stream.readableEnded || stream.destroyed) return;
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), lingerMs);
    stream.once('close', () => clearTimeout(timer));
    if (stream.listenerCount('data') === 0) stream.resume();
  }
}

/**
 * `:authority` takes the place of `host`; a differing `host` stays beside it and shows as a second one
 * (RFC 9113 section 8.3.1).
 */
function withoutPseudoHeaders(rawHeaders: readonly string[], authority = ''): string[] {
  const kept: string[] = authority === '' ? [] : ['host', authority];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (name.startsWith(':') || (name === 'host' && value === authority)) continue;
    kept.push(name, value);
  }
  return kept;
}

/** A reset shows in `close`. */
function ignore(): void {}
