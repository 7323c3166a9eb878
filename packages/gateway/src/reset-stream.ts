/**
 * Breaks off one half-finished HTTP/2 stream.
 *
 * @module
 */

import type { Http2Stream } from 'node:http2';

/**
 * Resets a stream such that what was sent on it cannot look complete.
 *
 * Node's `close` ends the writable side first: END_STREAM leaves before RST_STREAM, and the other side
 * has a whole message. Here the writable side never ends; the reset alone closes the stream.
 *
 * @param code - Of RST_STREAM; not NO_ERROR.
 *
 * @see [RFC 9113 section 8.1](https://www.rfc-editor.org/rfc/rfc9113#section-8.1) END_STREAM completes a message
 */
export function resetStream(stream: Http2Stream, code: number): void {
  if (stream.destroyed || stream.closed) return;
  Object.assign(stream, { _final: neverEnd });
  stream.close(code);
}

function neverEnd(): void {}
