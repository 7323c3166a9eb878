/**
 * The protobuf messages and services of the platform's authentication, and gRPC's health check.
 *
 * Generated from `proto/` (`npm run protobuf`); exported here so that no importer names the
 * generated files. The two generations of the platform name the same messages differently.
 *
 * @module
 */

export {
  AuthMetadataService,
  OAuth2MetadataResponseSchema,
  PublicClientAuthConfigResponseSchema,
} from './gen/flyteidl/service/auth_pb.js';
export {
  IdentityService,
  UserInfoResponseSchema,
} from './gen/flyteidl/service/identity_pb.js';
export {
  AuthMetadataService as AuthMetadataService2,
  GetOAuth2MetadataResponseSchema,
  GetPublicClientConfigResponseSchema,
} from './gen/flyteidl2/auth/auth_service_pb.js';
export {
  IdentityService as IdentityService2,
  UserInfoResponseSchema as UserInfoResponseSchema2,
} from './gen/flyteidl2/auth/identity_pb.js';
export {
  Health,
  HealthCheckResponse_ServingStatus,
  HealthCheckResponseSchema,
} from './gen/grpc/health/v1/health_pb.js';
