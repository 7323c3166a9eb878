/**
 * What backends receive about an identity: the prepared headers and the user record as JSON.
 *
 * @module
 */

import {
  CLAIM_HEADER_PREFIX,
  IDENTITY_HEADERS,
  type JsonValue,
  type Principal,
  type UserRecord,
} from '@sallyport/protocol';
import type { Identity } from './verdict.ts';

/** All headers of an admission together stay below this, names, separators and the session cookie included. */
const IDENTITY_HEADERS_MAX_BYTES = 2_900;

/**
 * Prepares an identity for the doors, once per session and not per request.
 *
 * @param claimHeaders - Claims of `user.additionalClaims` to send as `X-User-Claim-*`, from configuration.
 * @param subjectPrefix - Put before the subject where backends see it, in header and record, so that the
 *   same subject of two issuers is two people there too. The principal keeps it as the issuer gave it.
 *
 * @returns The identity, or `claims_overflow` when its headers would not fit a proxy's default
 *   buffer. Nothing is ever cut off: half a group list would be another authorisation.
 */
export function prepareIdentity(
  parts: {
    readonly principal: Principal;
    readonly user: UserRecord;
    readonly claims: Readonly<Record<string, JsonValue>>;
  },
  claimHeaders: readonly string[],
  subjectPrefix = '',
): Identity | 'claims_overflow' {
  const { principal, claims } = parts;
  const user =
    subjectPrefix === ''
      ? parts.user
      : { ...parts.user, subject: subjectPrefix + parts.user.subject };
  const headers = [
    IDENTITY_HEADERS.subject,
    encodeHeaderValue(subjectPrefix + principal.subject),
    IDENTITY_HEADERS.issuer,
    encodeHeaderValue(principal.issuer),
    IDENTITY_HEADERS.identityType,
    principal.kind,
    IDENTITY_HEADERS.email,
    encodeHeaderValue(user.email),
    IDENTITY_HEADERS.name,
    encodeHeaderValue(user.name),
    ...claimHeaders.flatMap((claim) => [
      claimHeaderName(claim),
      encodeClaim(user.additionalClaims[claim]),
    ]),
  ];
  // Two bytes end a name and two a value.
  const bytes = headers.reduce((sum, text) => sum + text.length + 2, 0);
  if (bytes > IDENTITY_HEADERS_MAX_BYTES) return 'claims_overflow';
  return { principal, user, claims, headers, body: new UserRecordBody(user) };
}

/**
 * The user record as `UserInfoResponse` of `flyteidl.service.IdentityService`, every field present.
 * `additionalClaims` keep their claim names in both spellings.
 *
 * Each spelling is written when it is first asked for: a caller asks for one of them again and again, and
 * for the other never.
 */
class UserRecordBody {
  readonly #user: UserRecord;
  #camelCase: string | undefined;
  #snakeCase: string | undefined;

  constructor(user: UserRecord) {
    this.#user = user;
  }

  get camelCase(): string {
    if (this.#camelCase === undefined) {
      const { subject, name, preferredUsername, givenName, familyName, email } = this.#user;
      const { picture, additionalClaims } = this.#user;
      this.#camelCase = JSON.stringify({
        subject,
        name,
        preferredUsername,
        givenName,
        familyName,
        email,
        picture,
        additionalClaims,
      });
    }
    return this.#camelCase;
  }

  get snakeCase(): string {
    if (this.#snakeCase === undefined) {
      const { subject, name, preferredUsername, givenName, familyName, email } = this.#user;
      const { picture, additionalClaims } = this.#user;
      this.#snakeCase = JSON.stringify({
        subject,
        name,
        preferred_username: preferredUsername,
        given_name: givenName,
        family_name: familyName,
        email,
        picture,
        additional_claims: additionalClaims,
      });
    }
    return this.#snakeCase;
  }
}

/** The header a claim travels in: `tenant_id` as `x-user-claim-tenant-id`. */
export function claimHeaderName(claim: string): string {
  return CLAIM_HEADER_PREFIX + claim.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
}

/**
 * Writes text as a header value.
 *
 * Printable ASCII stays as it is; everything else, `%` included, is percent-encoded as UTF-8, so
 * that a claim can neither split a header (CWE-113) nor arrive garbled. Blanks at its ends, which
 * HTTP would drop, are encoded too: two subjects must not become one.
 */
function encodeHeaderValue(text: string): string {
  const encoded = /^[\x20-\x24\x26-\x7e]*$/.test(text)
    ? text
    : text.toWellFormed().replaceAll(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);
  return encoded.startsWith(' ') || encoded.endsWith(' ')
    ? encoded.replaceAll(/^ +| +$/g, (blanks) => '%20'.repeat(blanks.length))
    : encoded;
}

/** A string claim travels as it is, anything else as JSON. */
function encodeClaim(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return encodeHeaderValue(typeof value === 'string' ? value : JSON.stringify(value));
}
