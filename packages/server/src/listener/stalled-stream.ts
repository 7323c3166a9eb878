/**
 * Ends HTTP/2 streams whose client takes nothing of what waits for it.
 *
 * @module
 */

import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

/** All in milliseconds. */
export interface StallTimes {
  /** For one piece of an answer to leave. */
  readonly stallMs: number;
  /** For the reset to leave. */
  readonly lingerMs: number;
}

type Done = (error?: Error | null) => void;

/** Where a stream's pieces go, one call after the other. */
interface Sink {
  readonly _write: (this: unknown, chunk: unknown, encoding: BufferEncoding, done: Done) => void;
  readonly _writev: (this: unknown, chunks: unknown, done: Done) => void;
}

/**
 * Watches what is written to a stream, from its beginning.
 *
 * HTTP/2 lets a client keep its window shut: what is written then waits here, however small it is, and
 * neither the connection nor the stream is idle for Node. So each piece has a time in which it has to
 * leave whole; a window opened byte by byte does not prolong it. A stream whose sender has nothing to
 * send is not touched, for however long.
 *
 * Where the reset does not leave either, the client reads nothing at all, and the connection ends.
 *
 * @see [RFC 9113 section 10.5](https://www.rfc-editor.org/rfc/rfc9113#section-10.5) denial of service by flow control
 */
export function limitStall(
  stream: ServerHttp2Stream,
  socket: Socket,
  { stallMs, lingerMs }: StallTimes,
): void {
  const { _write: write, _writev: writev } = stream as unknown as Sink;
  let timer: NodeJS.Timeout | undefined;

  Object.assign(stream, {
    _write(chunk: unknown, encoding: BufferEncoding, done: Done) {
      write.call(stream, chunk, encoding, watch(done));
    },
    _writev(chunks: unknown, done: Done) {
      writev.call(stream, chunks, watch(done));
    },
  });
  stream.once('close', () => clearTimeout(timer));

  function watch(done: Done): Done {
    clearTimeout(timer);
    timer = setTimeout(end, stallMs);
    return (error) => {
      clearTimeout(timer);
      done(error);
    };
  }

  function end(): void {
    if (stream.destroyed) return;
    // Not by the exchange's own means: what was written must not be waited for.
    stream.close(constants.NGHTTP2_CANCEL);
    timer = setTimeout(() => socket.destroy(), lingerMs);
  }
}
