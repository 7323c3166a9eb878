/**
 * The part of the configuration that is about bearer tokens.
 *
 * @module
 */

/** Signature algorithms that can be allowed (RFC 7518, RFC 8037, RFC 9864); all asymmetric. */
export const SIGNATURE_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** One of {@link SIGNATURE_ALGORITHMS}. */
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** How the tokens of one issuer are read. */
interface TokenReadingConfig {
  readonly algorithms: readonly SignatureAlgorithm[];
  readonly clientIdClaims: readonly string[];
  readonly scopeClaims: readonly string[];
  readonly subjectClaim: string;
  readonly subjectPrefix: string;
}

/** One further issuer. */
export interface BearerIssuerConfig extends TokenReadingConfig {
  /** Byte for byte. */
  readonly issuer: string;
  /** Empty for the registered places. */
  readonly metadataUrl: string;
  /** Empty means `publicUrl`. */
  readonly audiences: readonly string[];
  readonly emailTrusted: boolean;
}

/** Whose bearer tokens are accepted. Claim names and algorithms here are the first issuer's. */
export interface BearerConfig extends TokenReadingConfig {
  readonly onlyConfiguredHeader: boolean;
  readonly requiredScopes: readonly string[];
  readonly issuers: readonly BearerIssuerConfig[];
  readonly introspection: {
    /** Empty: opaque tokens are refused. */
    readonly endpoint: string;
    readonly clientId: string;
    readonly clientSecretFile: string;
    readonly requestsPerSecond: number;
  };
}
