/**
 * The public client configuration: what a command-line client signs in with.
 *
 * @module
 */

/** `PublicClientAuthConfigResponse`, under the field names of its protobuf message. */
export interface PublicClientConfig {
  /** `auth.appAuth.thirdPartyConfig.flyteClient.clientId`: the native app. */
  readonly clientId: string;
  /** `….redirectUri`. */
  readonly redirectUri: string;
  /** `….scopes`. */
  readonly scopes: readonly string[];
  /** `….audience`; empty lets the client leave it out. */
  readonly audience: string;
  /** `auth.grpcAuthorizationHeader`: the header that carries the bearer token. */
  readonly authorizationMetadataKey: string;
  /** `publicUrl`. */
  readonly serviceHttpEndpoint: string;
}
