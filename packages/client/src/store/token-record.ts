/**
 * A token set as text, the form in which stores keep it.
 *
 * @module
 */

import type { TokenSet } from '../token-set.ts';

const VERSION = 1;
/** Longer text is no record of ours. */
const RECORD_MAX_LENGTH = 262_144;

/** Writes a token set as a versioned record. The text is a secret. */
export function serializeTokenRecord(tokens: TokenSet): string {
  return JSON.stringify({
    version: VERSION,
    access_token: tokens.accessToken,
    expires_at: tokens.expiresAt,
    obtained_at: tokens.obtainedAt,
    refresh_token: tokens.refreshToken,
    scopes: tokens.scopes,
  });
}

/**
 * Reads a record back.
 *
 * @param text - Untrusted: a store may hold anything by now.
 *
 * @returns The tokens; `undefined` for another version, for text that is not JSON, and for a member
 *   that is missing or of another type. The caller MUST go on as if there was none: signing in again
 *   mends all of these.
 */
export function parseTokenRecord(text: string): TokenSet | undefined {
  if (text.length > RECORD_MAX_LENGTH) return undefined;
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof record !== 'object' || record === null) return undefined;
  const fields = record as Record<string, unknown>;
  const accessToken = fields['access_token'];
  const expiresAt = fields['expires_at'];
  const obtainedAt = fields['obtained_at'];
  const refreshToken = fields['refresh_token'];
  const scopes = fields['scopes'];
  if (fields['version'] !== VERSION) return undefined;
  if (typeof accessToken !== 'string' || accessToken === '') return undefined;
  if (expiresAt !== undefined && !isTime(expiresAt)) return undefined;
  if (!isTime(obtainedAt)) return undefined;
  if (refreshToken !== undefined && !(typeof refreshToken === 'string' && refreshToken !== ''))
    return undefined;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string'))
    return undefined;
  return { accessToken, expiresAt, obtainedAt, refreshToken, scopes };
}

/** JSON has no NaN, but 1e999 reads as Infinity. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
