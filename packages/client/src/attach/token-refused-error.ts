/**
 * There is no token for a call, in a place that can only reject.
 *
 * @module
 */

import type { TokenRefusal } from '../grant.ts';

/** The call was not made: it needs a token, and there is none without whatever the refusal asks for. */
export class TokenRefusedError extends Error {
  override readonly name = 'TokenRefusedError';
  readonly refusal: TokenRefusal;

  constructor(refusal: TokenRefusal) {
    super([refusal.description, refusal.hint].filter((part) => part !== '').join(' '));
    this.refusal = refusal;
  }
}
