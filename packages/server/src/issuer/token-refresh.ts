/**
 * Port: the tokens that the IdP issued for a session, refreshed and given back.
 *
 * @module
 */

import type { JsonValue, Principal, Result } from '@sallyport/protocol';

/** The tokens that the IdP issued at a sign-in or a refresh. Secret. */
export interface IssuedTokens {
  readonly idToken: string;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

/** Tokens that can be refreshed. */
export type RefreshableTokens = IssuedTokens & { readonly refreshToken: string };

/** The IdP's answer to a refresh request, verified. */
export interface RefreshedTokens {
  readonly tokens: IssuedTokens;
  readonly claims: Readonly<Record<string, JsonValue>>;
  /** Whether userinfo could not be fetched: the claims known before then stand beside these (`joinClaims`). */
  readonly isPartial: boolean;
  /** Milliseconds; `undefined` when the IdP did not say. */
  readonly accessTokenLifeMs: number | undefined;
}

/** Why a refresh brought nothing that can be used. */
export type RefreshRefusal =
  /** The IdP has ended the session, or requires the person to interact. `code` is the OAuth error. */
  | { readonly reason: 'refused'; readonly code: string }
  /** Nothing of the request can have reached the IdP: the refresh token is still good. */
  | { readonly reason: 'unreachable'; readonly cause: unknown }
  /** No answer came, and none can come any more. The refresh token may be spent. */
  | { readonly reason: 'unavailable'; readonly cause: unknown }
  /** An error that says nothing about the session: the IdP answers, and does not accept this request. */
  | { readonly reason: 'rejected'; readonly cause: unknown }
  /** The answer names another subject or issuer. */
  | { readonly reason: 'other_subject' }
  /** The answer did not pass a check. `refreshToken` is the one that counts from now on. */
  | {
      readonly reason: 'unverified';
      readonly check: string;
      readonly refreshToken: string;
    };

/** Port: the relying party, as far as the renewal of a session needs it. */
export interface RefreshTokens {
  /** Never throws. Waits for the answer as long as one may come: it may hold the only refresh token that works. */
  refresh(
    tokens: RefreshableTokens,
    principal: Principal,
  ): Promise<Result<RefreshedTokens, RefreshRefusal>>;
  /** Revokes a refresh token that no session will use any more (RFC 7009). */
  revoke(refreshToken: string): Promise<unknown>;
}
