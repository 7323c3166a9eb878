/**
 * What an issuer publishes: its metadata and its keys.
 *
 * `createIssuers` keeps one metadata document and one key set for each issuer, fetched once for all uses and
 * refreshed. The parsers and requests stand alone, for a probe that asks once. Token requests are those of the
 * relying party, a room of its own in `relying-party/`: only that one loads openid-client.
 *
 * @module
 */

export { createIssuerFetch, type IssuerFetch } from './issuer-request.ts';
export { createIssuers, type Issuer, type Issuers, type IssuersOptions } from './issuers.ts';
export type { IssuerKeys } from './keys/issuer-keys.ts';
export { type KeySet, type KeySetProblem, parseKeySet } from './keys/key-set.ts';
export {
  type AuthorizationServerDocument,
  type DocumentProblem,
  findMissingMember,
  type IssuerDocument,
  parseIssuerDocument,
} from './metadata/authorization-server-document.ts';
export {
  type AuthorizationServerMetadata,
  createMetadataSource,
  type MetadataSource,
  type MetadataSourceOptions,
} from './metadata/authorization-server-metadata.ts';
export { type EndpointProblem, findEndpointProblem } from './metadata/endpoint-address.ts';
export type { FollowedMetadata, IssuerMetadata, MetadataUse } from './metadata/issuer-metadata.ts';
export { IssuerMismatch } from './metadata/issuer-mismatch.ts';
export { fetchIssuerDocument, listMetadataUrls } from './metadata/metadata-request.ts';
export { createPatientFetch } from './patient-fetch.ts';
export { createPlainFetch } from './plain-fetch.ts';
