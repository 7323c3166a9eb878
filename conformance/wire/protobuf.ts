/**
 * Just enough of protobuf to read an answer of texts, and of the framing gRPC puts around it.
 *
 * @module
 */

/** Puts a message in its frame: no compression, four bytes of length. */
export function writeMessage(message: Buffer): Buffer {
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** One frame; the flags mark compression (1) and, in gRPC-Web, trailers (128). */
export interface Frame {
  readonly flags: number;
  readonly content: Buffer;
}

/** Takes frames apart; throws when one is not whole. */
export function readFrames(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) throw new Error('a frame is cut off');
    frames.push({ flags: bytes.readUInt8(at), content: bytes.subarray(at + 5, end) });
    at = end;
  }
  return frames;
}

/** The messages of a gRPC answer, which is not compressed unless it was asked for. */
export function readMessages(bytes: Buffer): Buffer[] {
  return readFrames(bytes).map(({ content }) => content);
}

/** The fields of a message by number, numbers as text, texts and messages as they are. */
export function readFields(message: Buffer): ReadonlyMap<number, readonly string[]> {
  const fields = new Map<number, string[]>();
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message.readUInt8(at);
      at += 1;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const kind = tag & 7;
    if (kind !== 0 && kind !== 2) throw new Error(`wire type ${kind} is not read here`);
    const size = varint();
    const text = kind === 0 ? String(size) : message.toString('utf8', at, at + size);
    if (kind === 2) at += size;
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), text]);
  }
  return fields;
}

/** A message with one text in one field. */
export function writeText(field: number, text: string): Buffer {
  const content = Buffer.from(text);
  return Buffer.concat([Buffer.from([(field << 3) | 2, content.length]), content]);
}
