/**
 * A platform's OAuth metadata and public client configuration.
 *
 * @module
 */

/** Answers of `GetOAuth2Metadata` and `GetPublicClientConfig` together. Untrusted until checked by its reader. */
export interface PlatformMetadata {
  readonly issuer: string;
  /** Whether each answer of its authorization endpoint names it (RFC 9207): one that does not is then none. */
  readonly isIssuerNamed: boolean;
  /** Empty when the authorization server has none. */
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Empty when the authorization server has none. */
  readonly deviceAuthorizationEndpoint: string;
  /** Empty when the platform does not name one. */
  readonly revocationEndpoint: string;
  readonly codeChallengeMethods: readonly string[];
  /** The native application. */
  readonly clientId: string;
  /** Used byte for byte. */
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** Empty when none is to be asked for. */
  readonly audience: string;
  /** Header the platform reads a bearer from; lower case. */
  readonly authorizationHeader: string;
}
