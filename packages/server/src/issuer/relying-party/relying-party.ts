/**
 * Port: the relying party's conversation with the IdP.
 *
 * @module
 */

import type { JsonValue, Result } from '@sallyport/protocol';
import type { IssuedTokens, RefreshTokens } from '../token-refresh.ts';
import type { LogoutToken } from './logout-token.ts';

/** What the authorization request carries beyond the client's own settings. */
export interface AuthorizationRequest {
  readonly state: string;
  readonly nonce: string;
  /** PKCE S256 of the verifier (RFC 7636 section 4.2). */
  readonly codeChallenge: string;
  /** Extra parameters: `prompt`, and the IdP selector under its configured name. */
  readonly extra: Readonly<Record<string, string>>;
}

/** What a callback has to match. */
export interface CallbackChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** A finished exchange: tokens, and the claims of the verified id_token joined by userinfo (`joinClaims`). */
export interface ExchangedTokens {
  readonly tokens: IssuedTokens;
  readonly claims: Readonly<Record<string, JsonValue>> & {
    readonly iss: string;
    readonly sub: string;
  };
  readonly accessTokenLifeMs: number | undefined;
}

/** Why an exchange gave no tokens, or a sign-in could not begin. */
export type ExchangeRefusal =
  /** The IdP answered with an OAuth error: the person is refused, or the code is used or expired. */
  | {
      readonly reason: 'idp_refused';
      readonly code: string;
      readonly description: string;
      /** Of the IdP's answer; absent for an error that came with the browser. */
      readonly status?: number;
      /** What it means, for the log. */
      readonly detail?: string | undefined;
    }
  /** The IdP and this client are configured differently: an OAuth error says so, or the issuer of its metadata. */
  | {
      readonly reason: 'misconfigured';
      /** The OAuth error, if it was one. */
      readonly error?: { readonly code: string; readonly description: string };
      /** What to compare and where, for the log. */
      readonly detail: string;
    }
  /** The answer or the id_token did not pass a check; `check` and `detail` are for the log and hold no token. */
  | {
      readonly reason: 'token_invalid';
      readonly check: string;
      readonly detail?: string | undefined;
    }
  | { readonly reason: 'idp_unreachable'; readonly cause: unknown };

/** Why a logout token ends nothing. */
export type LogoutTokenRefusal =
  /** It did not pass a check; `check` is for the log and holds no token. */
  | { readonly reason: 'token_invalid'; readonly check: string }
  /** The key is unknown, and the keys were fetched too recently to fetch them again: the IdP may have published it since. */
  | { readonly reason: 'key_pending'; readonly retryAfterSeconds: number }
  /** Not decided: metadata or keys are missing and could not be fetched now. */
  | { readonly reason: 'idp_unreachable' };

/** Where to send the browser to end the IdP's session. */
export interface EndSessionRequest {
  readonly idToken: string | undefined;
  readonly state: string | undefined;
}

/**
 * The IdP as the sign-in sees it. Nothing here throws for an IdP that is down or misbehaves.
 *
 * Metadata is fetched lazily, retried, refreshed in the background, and the last good one kept.
 */
export interface RelyingParty extends RefreshTokens {
  /** What a sign-in asks for. */
  readonly scopes: readonly string[];
  /** Whether the IdP's metadata is known: a sign-in needs it. */
  isReady(): boolean;
  /** The origin of the IdP's end-session endpoint, when known. */
  endSessionOrigin(): string | undefined;
  /**
   * The URL to send the browser to. Where the parameters are pushed (RFC 9126) it holds a reference to
   * them only, and a push that fails is a refusal; so is metadata that is not there and could not be
   * had now.
   */
  authorizationUrl(request: AuthorizationRequest): Promise<Result<URL, ExchangeRefusal>>;
  /**
   * Exchanges the code of a callback and verifies everything about the answer.
   *
   * @param callback - The callback's query. Untrusted; repeated parameters already refused.
   */
  exchange(
    callback: URLSearchParams,
    checks: CallbackChecks,
  ): Promise<
    | { readonly ok: true; readonly value: ExchangedTokens }
    | { readonly ok: false; readonly error: ExchangeRefusal }
  >;
  /** The URL that ends the IdP's session and comes back to `/logout`; `undefined` when the IdP has none. */
  endSessionUrl(request: EndSessionRequest): Promise<URL | undefined>;
  /**
   * Revokes a refresh token (RFC 7009). Resolves within seconds, also when the IdP would not.
   *
   * @returns Whether the IdP could be reached, as far as that was tried.
   */
  revoke(refreshToken: string): Promise<boolean>;
  /**
   * Verifies everything about a logout token but whether it was shown before.
   *
   * @param token - Untrusted.
   */
  verifyLogoutToken(token: string): Promise<Result<LogoutToken, LogoutTokenRefusal>>;
  close(): void;
}
