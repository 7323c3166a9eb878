/**
 * A token that works, from wherever it has to come: store, refresh or a new grant.
 *
 * @module
 */

import type { Result } from '@sallyport/protocol';
import type { GrantOptions, TokenRefusal } from './grant.ts';
import type { TokenSet } from './token-set.ts';

/** Options of {@link TokenSource.get}. */
export interface GetTokenOptions extends GrantOptions {
  /** Milliseconds the token must still live; the refresh window when absent. */
  readonly minTtlMs?: number;
}

/** Hands out tokens to be attached to requests. Safe to share; concurrent calls share one exchange. */
export interface TokenSource {
  /** @throws {SallyportError} `SP_IDP_UNREACHABLE` only when the kept token does not live any more. */
  get(options?: GetTokenOptions): Promise<Result<TokenSet, TokenRefusal>>;
  /**
   * A token other than the one a server has just refused. Callers that bring the same one share one
   * exchange, also across processes.
   */
  replace(refused: TokenSet, options?: GrantOptions): Promise<Result<TokenSet, TokenRefusal>>;
}
