/**
 * The paths of the methods that the service answers over Connect, gRPC and gRPC-Web: they are known without the RPC
 * library.
 *
 * @module
 */

/** The health check, which is answered with authentication off, too. */
export const HEALTH_PATHS: readonly string[] = [
  '/grpc.health.v1.Health/Check',
  '/grpc.health.v1.Health/Watch',
];

/** Every method. */
export const RPC_PATHS: readonly string[] = [
  '/grpc.health.v1.Health/Check',
  '/grpc.health.v1.Health/Watch',
  '/flyteidl.service.AuthMetadataService/GetOAuth2Metadata',
  '/flyteidl.service.AuthMetadataService/GetPublicClientConfig',
  '/flyteidl2.auth.AuthMetadataService/GetOAuth2Metadata',
  '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig',
  '/flyteidl.service.IdentityService/UserInfo',
  '/flyteidl2.auth.IdentityService/UserInfo',
];
