/**
 * From claims to principal and user record.
 *
 * @module
 */

import type { JsonValue, Principal, UserRecord } from '@sallyport/protocol';
import { selectEmail } from './access.ts';

/** Claims longer than this are no names; one alone would fill a proxy's header buffer. */
const TEXT_MAX_LENGTH = 512;

/** The principal of verified sign-in claims: a person at this issuer. */
export function toUserPrincipal(claims: { readonly iss: string; readonly sub: string }): Principal {
  return { issuer: claims.iss, subject: claims.sub, kind: 'user' };
}

/**
 * Keeps of the claims what `UserInfoResponse` has fields for, and the configured further ones.
 *
 * A field whose claim has another type, or is longer than any name, counts as unknown. The e-mail
 * address is kept only when it is verified, or the issuer is trusted to have done so.
 *
 * @param kept - Names of further claims to keep, from configuration.
 */
export function toUserRecord(
  claims: Readonly<Record<string, JsonValue>>,
  kept: readonly string[],
  emailTrusted: boolean,
): UserRecord {
  const text = (name: string) => {
    const value = claims[name];
    return typeof value === 'string' ? bounded(value) : '';
  };
  const additionalClaims: Record<string, JsonValue> = {};
  for (const name of kept) {
    const value = claims[name];
    if (value !== undefined) additionalClaims[name] = value;
  }
  return {
    subject: text('sub'),
    name: text('name'),
    preferredUsername: text('preferred_username'),
    givenName: text('given_name'),
    familyName: text('family_name'),
    email: bounded(selectEmail(claims, emailTrusted)),
    picture: text('picture'),
    additionalClaims,
  };
}

/** Never cut: half an e-mail address is another one. */
function bounded(text: string): string {
  return text.length <= TEXT_MAX_LENGTH ? text.toWellFormed() : '';
}
