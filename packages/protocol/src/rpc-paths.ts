/**
 * The methods that the service answers over Connect, gRPC and gRPC-Web, by name: they are known without the RPC library.
 *
 * @module
 */

const AUTH_METADATA = ['GetOAuth2Metadata', 'GetPublicClientConfig'];
const IDENTITY = ['UserInfo'];

/** Paths of the health check, which is answered with authentication off, too. */
export const HEALTH_PATHS: ReadonlySet<string> = new Set(
  pathsOf({ 'grpc.health.v1.Health': ['Check', 'Watch'] }),
);

/** Paths of every method. */
export const RPC_PATHS: ReadonlySet<string> = new Set([
  ...HEALTH_PATHS,
  ...pathsOf({
    'flyteidl.service.AuthMetadataService': AUTH_METADATA,
    'flyteidl2.auth.AuthMetadataService': AUTH_METADATA,
    'flyteidl.service.IdentityService': IDENTITY,
    'flyteidl2.auth.IdentityService': IDENTITY,
  }),
]);

function pathsOf(services: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.entries(services).flatMap(([service, methods]) =>
    methods.map((method) => `/${service}/${method}`),
  );
}
