/**
 * HTTP/2 written by hand, for what a well-behaved client cannot be made to send.
 *
 * @module
 */

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const WINDOW_UPDATE = 8;
const CONTINUATION = 9;
const END_STREAM = 1;
const END_HEADERS = 4;
const INITIAL_WINDOW_SIZE = 4;
/** Of the static table: `:method: GET`, `:scheme: http`. */
const GET_OVER_HTTP = Buffer.from([0x82, 0x86]);
/** Literals whose names stand in the static table. */
const AUTHORITY = 1;
const PATH = 4;

/** RFC 9113 section 4.1. */
function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** Preface and SETTINGS; every stream starts with this window. */
export function openConnection(initialWindowSize: number): Buffer {
  const setting = Buffer.alloc(6);
  setting.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
  setting.writeUInt32BE(initialWindowSize, 2);
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(SETTINGS, 0, 0, setting),
  ]);
}

/** A whole GET. */
export function openStream(streamId: number, path: string): Buffer {
  return frame(HEADERS, END_STREAM | END_HEADERS, streamId, headerBlock(path));
}

/** A GET whose header block goes on. */
export function beginStream(streamId: number, path: string): Buffer {
  return frame(HEADERS, END_STREAM, streamId, headerBlock(path));
}

/** More of a header block that goes on. */
export function continueStream(streamId: number, block: Buffer): Buffer {
  return frame(CONTINUATION, 0, streamId, block);
}

/** Takes a stream back, as CANCEL. */
export function cancelStream(streamId: number): Buffer {
  return frame(RST_STREAM, 0, streamId, Buffer.from([0, 0, 0, 8]));
}

/** Opens a window by so many bytes. */
export function openWindow(streamId: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(WINDOW_UPDATE, 0, streamId, payload);
}

/** A header of a few bytes that enters no table. */
export function literalHeader(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/**
 * Whether a stream has come to its end in what a server sent: by END_STREAM, and so not by RST_STREAM or with the
 * connection.
 *
 * @param received - From the first byte on, in Latin-1; a last frame that is not whole counts as well.
 */
export function endsStream(received: string, streamId: number): boolean {
  const bytes = Buffer.from(received, 'latin1');
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const isContent = [DATA, HEADERS].includes(bytes.readUInt8(at + 3));
    const isLast = (bytes.readUInt8(at + 4) & END_STREAM) !== 0;
    if (isContent && isLast && bytes.readUInt32BE(at + 5) === streamId) return true;
  }
  return false;
}

function headerBlock(path: string): Buffer {
  return Buffer.concat([GET_OVER_HTTP, indexed(AUTHORITY, 'a'), indexed(PATH, path)]);
}

function indexed(name: number, value: string): Buffer {
  return Buffer.concat([Buffer.from([name]), text(value)]);
}

/** Shorter than 127 bytes, without Huffman's code. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
}
