/**
 * What several answers of the IdP say about one person, put together.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util';
import type { JsonValue, UserRecord } from '@sallyport/protocol';

/** Claims by name; a claim that is `undefined` is not there. */
export type Claims = Readonly<Record<string, JsonValue>>;

/** Answers about the same person; each was verified by its reader. */
export interface ClaimAnswers {
  /** Of the id_token that came just now. */
  readonly idToken?: Claims | undefined;
  /** Of UserInfo, asked with the access token that came just now. */
  readonly userInfo?: Claims | undefined;
  /** What was known before: it stands where the answers above say nothing. */
  readonly earlier?: Claims | undefined;
}

/**
 * Claims of an id_token about itself and about the sign-in behind it (OpenID Connect Core 1.0 sections 2 and
 * 3.3.2.11, RFC 7519 section 4.1, OpenID Connect Front-Channel Logout 1.0 section 3 for `sid`).
 */
const OF_THE_ID_TOKEN: ReadonlySet<string> = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'azp',
  'nonce',
  'auth_time',
  'acr',
  'amr',
  'sid',
  'at_hash',
  'c_hash',
  's_hash',
]);
const VERIFIED = '_verified';
const NAMES_OF_ELSEWHERE = '_claim_names';
const SOURCES_OF_ELSEWHERE = '_claim_sources';

/**
 * Puts the answers together, claim by claim: the id_token before UserInfo, both before what was known earlier.
 *
 * Claims that qualify one another come from one answer, all of them or none, because each says something about
 * the value beside it and about no other:
 *
 * - a claim and its `…_verified`: `email`, `phone_number` (OpenID Connect Core 1.0 section 5.1), and any other;
 * - `_claim_names` and `_claim_sources` (section 5.6.2);
 * - what an id_token says of itself and of the sign-in: subject, times, `acr`, `amr`, `sid`. UserInfo never
 *   says that.
 *
 * Of the id_token and UserInfo the first one counts that has both, a claim and its qualifier; else the first
 * that has the claim. What was known earlier counts where neither has either, or where what they have is the same.
 *
 * Tenant and groups do not qualify one another: each is a statement about the person, and each has a rule.
 *
 * @see Requirement, "Browser login flow", step 6.
 */
export function joinClaims({ idToken, userInfo, earlier = {} }: ClaimAnswers): Claims {
  const fresh = [idToken, userInfo].filter((answer) => answer !== undefined);
  const signedIn = [idToken, earlier].find(
    (answer) => answer !== undefined && Object.keys(answer).some(isOfTheIdToken),
  );
  const joined = new Map<string, JsonValue>();
  for (const name of [...fresh, earlier].flatMap((answer) => Object.keys(answer))) {
    const answer = isOfTheIdToken(name) ? signedIn : selectAnswer(groupOf(name), fresh, earlier);
    const value = answer === undefined ? undefined : read(answer, name);
    if (value !== undefined) joined.set(name, value);
  }
  return Object.fromEntries(joined);
}

/**
 * Claims that say what a user record says, under the names the record was read from. The e-mail address is
 * not among them: it counts with its qualifier alone, and the record has none.
 */
export function claimsOfRecord({ additionalClaims, ...user }: UserRecord): Claims {
  const texts: Readonly<Record<string, string>> = {
    sub: user.subject,
    name: user.name,
    preferred_username: user.preferredUsername,
    given_name: user.givenName,
    family_name: user.familyName,
    picture: user.picture,
  };
  const known = Object.entries(texts).filter(([, text]) => text !== '');
  return { ...Object.fromEntries(known), ...additionalClaims };
}

/** Two names that belong together; for a claim without a qualifier the second is of no claim. */
type Group = readonly [claim: string, qualifier: string];

function groupOf(name: string): Group {
  if (name === NAMES_OF_ELSEWHERE || name === SOURCES_OF_ELSEWHERE)
    return [NAMES_OF_ELSEWHERE, SOURCES_OF_ELSEWHERE];
  const claim = name.endsWith(VERIFIED) ? name.slice(0, -VERIFIED.length) : name;
  return [claim, claim + VERIFIED];
}

function selectAnswer(group: Group, fresh: readonly Claims[], earlier: Claims): Claims {
  const [claim, qualifier] = group;
  // An answer without the qualifier can be less of what was known before, and take nothing back.
  const isSaidBefore = fresh.every((answer) =>
    group.every((name) => {
      const value = read(answer, name);
      return value === undefined || isDeepStrictEqual(value, read(earlier, name));
    }),
  );
  return (
    fresh.find((answer) => group.every((name) => read(answer, name) !== undefined)) ??
    (isSaidBefore ? earlier : undefined) ??
    fresh.find((answer) => read(answer, claim) !== undefined) ??
    fresh.find((answer) => read(answer, qualifier) !== undefined) ??
    earlier
  );
}

function read(answer: Claims, name: string): JsonValue | undefined {
  return Object.hasOwn(answer, name) ? answer[name] : undefined;
}

function isOfTheIdToken(name: string): boolean {
  return OF_THE_ID_TOKEN.has(name);
}
