/**
 * What a token endpoint gave, as the client keeps it.
 *
 * @module
 */

/** Tokens of one grant. Secrets: never printed, logged or put into a command line. */
export interface TokenSet {
  readonly accessToken: string;
  /** Epoch milliseconds; `undefined` when neither `expires_in` nor the token itself states it. */
  readonly expiresAt: number | undefined;
  /** Epoch milliseconds. With {@link expiresAt} it gives the lifetime. */
  readonly obtainedAt: number;
  readonly refreshToken: string | undefined;
  /** Scopes granted, which may be fewer than were asked for. */
  readonly scopes: readonly string[];
}
