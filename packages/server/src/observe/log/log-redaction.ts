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
 * Texts that have the shape of a credential: a JWS or JWE, a session's cookie value, a bearer, and what
 * a query gives to a parameter of OAuth. Lines hold identifiers and fixed text, which have no such shape.
 */
const SECRET_SHAPE = new RegExp(
  [
    String.raw`\bey[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_.-]*`,
    String.raw`(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])`,
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
  return typeof value === 'string' ? value.replaceAll(SECRET_SHAPE, REDACTED) : value;
}
