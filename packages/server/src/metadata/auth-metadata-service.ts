/**
 * `AuthMetadataService` of both generations of the platform: where a client signs in, and as what.
 *
 * @module
 */

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import {
  AuthMetadataService,
  AuthMetadataService2,
  GetOAuth2MetadataResponseSchema,
  GetPublicClientConfigResponseSchema,
  OAuth2MetadataResponseSchema,
  PublicClientAuthConfigResponseSchema,
} from '@sallyport/protocol/protobuf';
import type { AuthorizationServerDocument } from '../issuer/metadata/authorization-server-document.ts';
import { METADATA_RETRY_SECONDS, type MetadataOptions } from './rest-door.ts';

/**
 * Registers the service under both names. Unprotected.
 *
 * Without a document the answer is `unavailable`, with how long to wait in `retry-after` (Connect)
 * and `grpc-retry-pushback-ms` (gRPC A6); never `internal`, after which released Go clients do not
 * ask again as long as they live.
 */
export function registerAuthMetadata(router: ConnectRouter, options: MetadataOptions): void {
  const { authorizationServer, publicClient } = options;
  const client = { ...publicClient, scopes: [...publicClient.scopes] };
  router.service(AuthMetadataService, {
    getOAuth2Metadata: async () => create(OAuth2MetadataResponseSchema, await metadata()),
    getPublicClientConfig: () => create(PublicClientAuthConfigResponseSchema, client),
  });
  router.service(AuthMetadataService2, {
    getOAuth2Metadata: async () => create(GetOAuth2MetadataResponseSchema, await metadata()),
    getPublicClientConfig: () => create(GetPublicClientConfigResponseSchema, client),
  });

  async function metadata(): Promise<ReturnType<typeof toMessage>> {
    const document = authorizationServer.current ?? (await authorizationServer.need());
    if (document !== undefined) return toMessage(document);
    throw new ConnectError('The identity provider has not been reached yet', Code.Unavailable, {
      'retry-after': String(METADATA_RETRY_SECONDS),
      'grpc-retry-pushback-ms': String(METADATA_RETRY_SECONDS * 1_000),
    });
  }
}

/** The members that have a field; the rest of the document is served over plain HTTP only. */
function toMessage(document: AuthorizationServerDocument) {
  const text = (member: string) => {
    const value = document[member];
    return typeof value === 'string' ? value : '';
  };
  const texts = (member: string) => {
    const value = document[member];
    return typeof value === 'object' ? [...value] : [];
  };
  return {
    issuer: document.issuer,
    authorizationEndpoint: document.authorization_endpoint,
    tokenEndpoint: document.token_endpoint,
    responseTypesSupported: texts('response_types_supported'),
    scopesSupported: texts('scopes_supported'),
    tokenEndpointAuthMethodsSupported: texts('token_endpoint_auth_methods_supported'),
    jwksUri: text('jwks_uri'),
    codeChallengeMethodsSupported: texts('code_challenge_methods_supported'),
    grantTypesSupported: texts('grant_types_supported'),
    deviceAuthorizationEndpoint: text('device_authorization_endpoint'),
  };
}
