/**
 * The last net under every line: what is named or shaped like a secret does not get through.
 *
 * @module
 */

import type { LogFields, LogValue } from './log.ts';

/** What stands in the place of a secret. */
export const REDACTED = '[redacted]';

/**
 * Names under which a secret would travel, wherever the word stands: `client_secret`, `logout_token`,
 * `setCookie`. A line of ours has none of them.
 */
const SECRET_NAME =
  /secret|token|cookie|passw|authorization|credential|verifier|assertion|private|jwt|nonce|^(?:code|state|authorization_?code|device_?code|user_?code|pin|otp)$/i;

/**
 * Texts that have the shape of a credential: a JWS or JWE or its beginning, a session's cookie value, a
 * bearer, user and password of a URL, and what a query gives to a parameter of OAuth. Lines hold
 * identifiers and fixed text, which have no such shape.
 *
 * Each begins where a word, or what stands before it, does, and has one way to match: texts come from
 * outside and may be as long as a request's head.
 */
const SECRET_SHAPE = new RegExp(
  [
    String.raw`\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_.-]*)?`,
    String.raw`(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{43,}`,
    String.raw`(?<=\/\/)[^\s/?#@:]*:[^\s/?#@]*(?=@)`,
    String.raw`\b(?:bearer|basic|dpop) +[A-Za-z0-9._~+/=-]{8,}`,
    String.raw`(?<=[?&#](?:code|state|token|(?:id|access|refresh|logout)_token|id_token_hint|client_secret|code_verifier|nonce|client_assertion|password)=)[^&#\s"]+`,
    String.raw`(?<=-----BEGIN [A-Z ]{0,40}-----)[\s\S]+`,
  ].join('|'),
  'gi',
);

/** The fields of a line without what is named or shaped like a secret; the same object when there is none. */
export function redactFields(fields: LogFields): LogFields {
  let redacted: Record<string, LogValue> | undefined;
  for (const name in fields) {
    const value = fields[name];
    const shown = SECRET_NAME.test(name) ? REDACTED : redactValue(value);
    if (shown === value || value === undefined) continue;
    redacted ??= { ...fields } as Record<string, LogValue>;
    redacted[name] = shown;
  }
  return redacted ?? fields;
}

function redactValue(value: LogValue): LogValue {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  const shown = value.map(redactText);
  return shown.some((text, index) => text !== value[index]) ? shown : value;
}

/** More layers of encoding than honest text has. */
const ENCODED_MAX = 3;

/**
 * Removes from a text everything that has the shape of a secret. If a secret shows only after percent-decoding,
 * returns the decoded text.
 */
function redactText(text: string): string {
  let shown = text.replaceAll(SECRET_SHAPE, REDACTED);
  for (let layer = 0, decoded = shown; layer < ENCODED_MAX && decoded.includes('%'); layer += 1) {
    const next = percentDecode(decoded);
    if (next === decoded) break;
    decoded = next;
    const redacted = decoded.replaceAll(SECRET_SHAPE, REDACTED);
    if (redacted !== decoded) {
      shown = redacted;
      decoded = redacted;
    }
  }
  return shown;
}

/**
 * The beginning of a text for a line. What is shaped like a secret goes before the text is cut: half of
 * one has no such shape any more.
 *
 * @param maxLength - In UTF-16 units.
 */
export function cutText(text: string, maxLength: number): string {
  return text.length > maxLength ? redactText(text).slice(0, maxLength) : text;
}

/** Each sequence by itself: one that is broken leaves the others readable. */
function percentDecode(text: string): string {
  return text.replaceAll(/%[0-7][0-9a-f]/gi, (encoded) =>
    String.fromCharCode(Number.parseInt(encoded.slice(1), 16)),
  );
}
