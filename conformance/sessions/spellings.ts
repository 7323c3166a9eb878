/**
 * Encodings in which a text or a secret may have been written to a log or a file.
 *
 * @module
 */

/** What is shorter may stand anywhere by chance. */
const LEAST_LENGTH = 6;

/** Encodings of the bytes; base64 at each of the three offsets that it can have inside a longer text. */
export function spellings(bytes: Buffer): readonly Buffer[] {
  const base64 = [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    // The ends depend on what stands beside it.
    const inner = (text: string) => Buffer.from(text.replaceAll('=', '').slice(4, -4));
    return [inner(shifted.toString('base64')), inner(shifted.toString('base64url'))];
  });
  return [
    bytes,
    Buffer.from(bytes.toString('utf8'), 'utf16le'),
    Buffer.from(bytes.toString('hex')),
    Buffer.from(bytes.toString('hex').toUpperCase()),
    ...base64,
  ].filter(({ length }) => length >= LEAST_LENGTH);
}
