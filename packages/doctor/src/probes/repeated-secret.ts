/**
 * Whether a server's words give a secret back to the one who sent it.
 *
 * @module
 */

/** Stands where they do. */
export const REPEATED = '(words that repeat the secret are left out)';

/**
 * Whether a text contains a secret of any length: as it is or reversed, and each of these percent-encoded, form-encoded,
 * in hexadecimal digits, or in base64 (of either alphabet, at any place of a longer text). Either case counts.
 *
 * Words that contain a short secret by chance count as well. A server that writes it in yet another way is not
 * recognised.
 */
export function repeatsSecret(text: string, secret: string): boolean {
  const reversed = Array.from(secret).toReversed().join('');
  const spellings = [secret, reversed].flatMap(spellingsOf).map(normalise);
  const texts = [text, percentDecode(text)].map(normalise);
  return spellings.some(
    (spelling) => spelling !== '' && texts.some((each) => each.includes(spelling)),
  );
}

function spellingsOf(text: string): readonly string[] {
  const encoded = encodeURIComponent(text.toWellFormed());
  return [
    text,
    encoded,
    encoded.replaceAll('%20', '+'),
    Buffer.from(text, 'utf8').toString('hex'),
    // One character alone stands in every sentence.
    ...[0, 1, 2].map((offset) => toBase64Part(text, offset)).filter(({ length }) => length > 1),
  ];
}

/** The characters of base64 that come from the text alone, where so many bytes stand before it (modulo 3). */
function toBase64Part(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text, 'utf8')]);
  const encoded = bytes.toString('base64').replace(/=+$/, '');
  const isWhole = bytes.length % 3 === 0;
  return encoded.slice(Math.ceil((offset * 8) / 6), isWhole ? undefined : -1);
}

/** Both alphabets of base64, and both cases, as one. */
function normalise(text: string): string {
  return text.toLowerCase().replaceAll('-', '+').replaceAll('_', '/');
}

function percentDecode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}
