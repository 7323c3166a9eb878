/**
 * A way to obtain tokens, whichever it is.
 *
 * @module
 */

import type { Result } from '@sallyport/protocol';
import type { TokenSet } from './token-set.ts';

/** The ways there are; also what `sallyport status` shows. */
export type GrantKind =
  | 'pkce'
  | 'device_code'
  | 'client_credentials'
  | 'external_command'
  | 'service_account_token';

/** Why there is no token. Not an outage: those are thrown as `SallyportError`. */
export interface TokenRefusal {
  /**
   * The OAuth error code of the authorization server (`invalid_grant`, `access_denied`, …), or one
   * of ours.
   */
  readonly error:
    | 'login_required'
    | 'login_timed_out'
    | 'login_cancelled'
    | 'redirect_port_in_use'
    | (string & {});
  /** One sentence, safe to show. Text of the server is untrusted and made printable. */
  readonly description: string;
  /** What to do about it; empty when there is nothing to say. */
  readonly hint: string;
}

/** Options of one attempt. */
export interface GrantOptions {
  /** Ends the attempt; nothing is left behind. */
  readonly signal?: AbortSignal;
}

/** Obtains tokens; keeps none. */
export interface Grant {
  readonly kind: GrantKind;
  /** Whether a person has to act. */
  readonly isInteractive: boolean;
  /** @throws {SallyportError} `SP_IDP_UNREACHABLE` when the outcome is unknown. */
  obtain(options?: GrantOptions): Promise<Result<TokenSet, TokenRefusal>>;
  /**
   * Exchanges a refresh token. Absent where the grant is simply repeated. `invalid_grant` means that
   * this refresh token is worth nothing any more.
   *
   * @throws {SallyportError} `SP_IDP_UNREACHABLE`.
   */
  refresh?(refreshToken: string, options?: GrantOptions): Promise<Result<TokenSet, TokenRefusal>>;
}
