/**
 * One request and its answer, whichever HTTP version carries them.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { HeaderPair } from '@sallyport/protocol';

/** The connection behind an upgrade request. */
export interface Upgrade {
  readonly socket: Duplex;
  /** What the client sent right behind its request. */
  readonly head: Buffer;
}

/** What the gateway's steps know about a connection. Everything the client sent is untrusted. */
export interface Exchange {
  readonly version: 'http/1' | 'http/2';
  readonly method: string;
  /** The request target as sent: `:path` in HTTP/2. */
  readonly target: string;
  /** Node's folded headers. */
  readonly headers: IncomingHttpHeaders;
  /** Flat name-value list without pseudo-headers; `:authority` shows as `host`. */
  readonly rawHeaders: readonly string[];
  /** Address of the other end of the connection. */
  readonly peerAddress: string;
  /** Absent when the request has none. */
  readonly body: Readable | undefined;
  /** Whether a body that has ended is whole; over HTTP/2 one that broke off ends too. */
  readonly isBodyWhole: boolean;
  /** Present for a WebSocket request, HTTP/1.1 only. */
  readonly upgrade: Upgrade | undefined;
  /** Present over HTTP/2. */
  readonly stream: ServerHttp2Stream | undefined;
  /** Whether the answer has begun. */
  readonly isAnswered: boolean;
  /** Whether nothing can be sent any more. */
  readonly isClosed: boolean;
  /** Calls back once: when the answer is complete, or the client has gone. */
  onClose(listener: () => void): void;
  /** Asks a client that waits for it to send its body. */
  sendContinue(): void;
  /** Passes on a backend's 103; drops it where the client could not take it. */
  sendEarlyHints(links: readonly string[]): void;
  /** Begins the answer; its body goes to what this returns. Headers may wait for the first piece. */
  begin(status: number, headers: readonly HeaderPair[]): Writable;
  /** Sends headers that still wait. */
  flush(): void;
  /** Sends a whole answer. */
  send(status: number, headers: readonly HeaderPair[], body: string): void;
  /** Breaks off, such that what was sent cannot look complete. */
  reset(): void;
}

/** IPv4 in its own spelling, also where the socket is IPv6. */
export function spellAddress(address: string | undefined): string {
  return (address ?? 'unknown').replace(/^::ffff:(?=\d+\.)/, '');
}
