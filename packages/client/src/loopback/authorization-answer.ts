/**
 * The answer of the authorization endpoint, by redirect or pasted.
 *
 * @module
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import { describeOAuthError } from '../grants/oauth-error.ts';

/** What the answer must match. */
export interface ExpectedAnswer {
  readonly state: string;
  /** The issuer asked. */
  readonly issuer: string;
  /** Whether it says that each of its answers names it; an answer without `iss` is then of another server. */
  readonly isIssuerNamed: boolean;
}

/** Outcome of {@link parseAuthorizationAnswer}. */
export type AuthorizationAnswer =
  /** It is the answer to another question, or to none: keep waiting, and say nothing of it. */
  | { readonly kind: 'foreign' }
  /** It is ours, for good or for bad. */
  | { readonly kind: 'answer'; readonly outcome: Result<{ readonly code: string }, TokenRefusal> };

const CODE_MAX_LENGTH = 8_192;
const PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'] as const;

/**
 * Judges the answer. `state` is compared before anything else is looked at, so that no other party can
 * end the attempt or inject a code.
 *
 * @param query - Untrusted.
 *
 * @see [RFC 6749 section 4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2)
 * @see [RFC 9207 section 2.4](https://www.rfc-editor.org/rfc/rfc9207#section-2.4) `iss` must be the issuer asked
 */
export function parseAuthorizationAnswer(
  query: URLSearchParams,
  { state, issuer, isIssuerNamed }: ExpectedAnswer,
): AuthorizationAnswer {
  const states = query.getAll('state');
  if (states.length !== 1 || !isSame(states[0] ?? '', state)) return { kind: 'foreign' };
  const repeated = PARAMETERS.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined)
    return answer(refuse(malformed(`it has "${repeated}" more than once`)));
  const iss = query.get('iss');
  if (iss === null ? isIssuerNamed : iss !== issuer)
    return answer(
      refuse({
        error: 'issuer_mismatch',
        description:
          iss === null
            ? 'The answer does not name the identity provider, which says of itself that its answers do.'
            : 'The answer is of another identity provider than the one asked.',
        hint: 'Compare the issuer that the platform publishes with that of the identity provider, the slash at its end included.',
      }),
    );
  const error = query.get('error');
  if (error !== null)
    return answer(refuse(describeOAuthError(error, query.get('error_description') ?? '')));
  const code = query.get('code') ?? '';
  if (code === '') return answer(refuse(malformed('it has neither code nor error')));
  if (code.length > CODE_MAX_LENGTH || !/^[\x20-\x7e]+$/.test(code))
    return answer(refuse(malformed('its code is unusable')));
  return answer(accept({ code }));
}

function answer(outcome: Result<{ readonly code: string }, TokenRefusal>): AuthorizationAnswer {
  return { kind: 'answer', outcome };
}

/** Whether two texts are equal, in constant time. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function malformed(what: string): TokenRefusal {
  return {
    error: 'answer_malformed',
    description: `The answer of the identity provider cannot be used: ${what}.`,
    hint: '',
  };
}
