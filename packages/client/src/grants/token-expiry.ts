/**
 * Expiry of a token, as the token itself states it.
 *
 * @module
 */

/** Seconds since 1970 that still are a date when multiplied. */
const EXPIRY_MAX_SECONDS = 8_640_000_000_000;

/**
 * Reads `exp` of a token that is a JWT. Nothing is verified: the server that is asked with it decides,
 * this is only when to get the next one.
 *
 * @returns Epoch milliseconds; `undefined` when it states none.
 *
 * @see [RFC 7519 section 4.1.4](https://www.rfc-editor.org/rfc/rfc7519#section-4.1.4)
 */
export function readExpiry(token: string): number | undefined {
  const [, payload, signature, ...rest] = token.split('.');
  if (payload === undefined || signature === undefined || rest.length > 0) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null || !('exp' in claims)) return undefined;
    const { exp } = claims;
    return typeof exp === 'number' && exp >= 0 && exp <= EXPIRY_MAX_SECONDS
      ? Math.floor(exp * 1_000)
      : undefined;
  } catch {
    return undefined;
  }
}
