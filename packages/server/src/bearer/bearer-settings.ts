/**
 * Which bearer tokens are accepted, as settings.
 *
 * @module
 */

import type { SignatureAlgorithm } from '@sallyport/config';
import type { IntrospectionEndpoint } from '../issuer/introspection/introspection-request.ts';

/** One issuer, and how its tokens are read. */
export interface IssuerSettings {
  /** Byte for byte the `iss` of its tokens. */
  readonly issuer: string;
  /** Absolute URL of the metadata document; empty asks at the registered places. */
  readonly metadataUrl: string;
  /** As configured; a token must be for one of them, in a spelling of `listAudienceSpellings`. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Claims that name the client, the first that is there counts. */
  readonly clientIdClaims: readonly string[];
  /** Claims that list scopes, taken together. */
  readonly scopeClaims: readonly string[];
  readonly subjectClaim: string;
  /** Put before the subject where backends see it; empty for the only issuer. */
  readonly subjectPrefix: string;
  /** Believes e-mail addresses that come without `email_verified`. */
  readonly emailTrusted: boolean;
}

/** An introspection endpoint for opaque tokens (RFC 7662). */
export interface IntrospectionSettings extends IntrospectionEndpoint {
  readonly requestsPerSecond: number;
  /** Whose tokens they are, and how the answer is read. */
  readonly issuer: IssuerSettings;
}

/** Everything that is accepted as a bearer. */
export interface BearerSettings {
  /** Tried by `iss`; no two have the same. */
  readonly issuers: readonly IssuerSettings[];
  /** A token must have all of them. */
  readonly requiredScopes: readonly string[];
  /** Clients whose tokens are no bearers: the web app's stay in its sessions. */
  readonly sessionClientIds: readonly string[];
  /** Client ids that no audience may be: the id_tokens of these clients carry them. */
  readonly interactiveClientIds: readonly string[];
  readonly introspection?: IntrospectionSettings;
}
