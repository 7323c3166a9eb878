/**
 * What a text or a secret looks like where somebody has written it down.
 *
 * @module
 */

/** What is shorter may stand anywhere by chance. */
const LEAST_LENGTH = 6;

/** Bytes as somebody could have written them down; base64 in the three ways it can fall among others. */
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
