/**
 * What others say about a write, without what was written.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';
import { type Manifest, memberOf } from './secret-store.ts';

const REPLACEMENT = '[secret]';
const DESCRIPTION_MAX = 500;
/** What is shorter is no secret, and stands in every message. */
const FORM_MIN = 4;
/** Base64 of a key, or a part of it. */
const ENCODED = /[A-Za-z0-9+/]{24}/;
/** The same in the alphabet for URLs, which long names use as well, in lower case. */
const URL_ENCODED = /[\w-]{24,}/g;
/** Bytes as Go prints them: numbers in a row. */
const BYTES = /(?:\b(?:0x)?[\da-f]{1,3}\b[\s,]+){8}/i;

/**
 * Makes another program's words about a Secret fit to be shown: admission webhooks quote what they deny.
 *
 * Every value of `data` is replaced, in base64 and decoded. What then still has 24 or more characters of base64 in a row, or a
 * row of bytes as numbers, may hold a part of a value, and none of it is shown.
 *
 * @param sent - The object that was sent; `undefined` where none was, and the words are shown as they are.
 * @returns At most 500 printable characters.
 */
export function withoutSecrets(said: string, sent: Manifest | undefined): string {
  let text = said;
  if (sent !== undefined) {
    for (const form of formsOf(sent).toSorted((a, b) => b.length - a.length))
      text = text.replaceAll(form, REPLACEMENT);
    if (mayHoldSecrets(text)) return 'its message is not shown, because it may quote the Secret';
  }
  return withoutUnprintable(text.trim()).slice(0, DESCRIPTION_MAX);
}

/** How a value may stand in a text. */
function formsOf(manifest: Manifest): readonly string[] {
  return Object.values(memberOf(manifest, 'data') ?? {}).flatMap((encoded: unknown) => {
    if (typeof encoded !== 'string') return [];
    const plain = Buffer.from(encoded, 'base64').toString('utf8');
    const quoted = JSON.stringify(plain).slice(1, -1);
    return [encoded, encoded.replace(/=+$/, ''), plain, plain.trim(), quoted].filter(
      (form) => form.length >= FORM_MIN,
    );
  });
}

function mayHoldSecrets(text: string): boolean {
  const isUrlEncoded = Array.from(text.matchAll(URL_ENCODED)).some(([run]) => /[A-Z]/.test(run));
  return ENCODED.test(text) || isUrlEncoded || BYTES.test(text);
}
