/**
 * How much there is in a JSON text, before it is parsed.
 *
 * @module
 */

/** What {@link findJsonExcess} allows. */
export interface JsonBounds {
  /** Arrays and objects in each other. */
  readonly depthMax: number;
  /** Brackets that open, commas and colons outside of strings; there are at least as many as half the values. */
  readonly tokensMax: number;
}

/** What there is too much of. */
export type JsonExcess = 'too_deep' | 'too_many_values';

const CODE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/**
 * Looks whether parsing would make more of a text than its length suggests: a parser makes an object of each `[`, some fifty times
 * as large. One pass over the bytes, up to the first excess.
 *
 * Does not look whether the text is JSON: what is none, the parser refuses without having made more than is counted here.
 *
 * @param bytes - UTF-8. No byte of a longer character looks like one of the signs that count.
 */
export function findJsonExcess(
  bytes: Uint8Array,
  { depthMax, tokensMax }: JsonBounds,
): JsonExcess | undefined {
  let depth = 0;
  let tokens = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at];
    if (isText) {
      if (code === CODE.backslash) at += 1;
      else if (code === CODE.quote) isText = false;
    } else if (code === CODE.quote) isText = true;
    else if (code === CODE.closeArray || code === CODE.closeObject) depth -= 1;
    else if (code === CODE.comma || code === CODE.colon) tokens += 1;
    else if (code === CODE.openArray || code === CODE.openObject) {
      tokens += 1;
      depth += 1;
      if (depth > depthMax) return 'too_deep';
    }
    if (tokens > tokensMax) return 'too_many_values';
  }
  return undefined;
}
