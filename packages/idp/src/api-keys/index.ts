/**
 * The clients behind API keys, for programs that run no identity provider: `@sallyport/idp/api-keys`.
 *
 * @module
 */

export { ACCESS_TOKEN_SECONDS } from '../spec/idp-spec.ts';
export { type AdminClientOptions, createApiKeyAdminClient } from './admin-client.ts';
export {
  type ApiKeyClient,
  type ApiKeyIssuer,
  type ApiKeyIssuerRefusal,
  type ApiKeyOwner,
  type IssuedApiKeyClient,
  isClusterName,
  isOrganizationName,
} from './api-key-issuer.ts';
