import { describe, expect, it } from 'vitest';
import { createRouteMatcher } from './match-route.ts';
import { PATHS } from './paths.ts';
import { ROUTE_GROUPS } from './route-groups.ts';

const match = createRouteMatcher(ROUTE_GROUPS);

describe('ROUTE_GROUPS', () => {
  it('names every group once, for metric labels', () => {
    const names = ROUTE_GROUPS.map((group) => group.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  it.each([
    PATHS.me,
    PATHS.login,
    PATHS.callback,
    PATHS.logout,
    PATHS.account,
    PATHS.session,
    PATHS.signedIn,
    PATHS.backchannelLogout,
    PATHS.jwks,
    '/.well-known/oauth-authorization-server',
    '/config/v1/flyte_client',
    '/oauth2/token',
    '/healthcheck',
  ])(
    'Endpoints table: %s is unprotected and reaches the admin service with every credential',
    (path) => {
      expect(match(path, 'http')).toMatchObject({
        protected: false,
        backend: 'admin',
        forwardCredential: 'all',
      });
    },
  );

  it.each([
    '/flyteidl.service.AuthMetadataService/GetPublicClientConfig',
    '/flyteidl.service.AuthMetadataService/GetOAuth2Metadata',
    '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig',
    '/flyteidl2.auth.AuthMetadataService/GetOAuth2Metadata',
  ])('AuthMetadataService routes are unprotected over gRPC and Connect: %s', (path) => {
    expect(match(path, 'grpc')).toMatchObject({ protected: false, backend: 'admin' });
    expect(match(path, 'http')).toMatchObject({ protected: false, backend: 'admin' });
  });

  it.each([
    ['/', 'console'],
    ['/v2/projects', 'console'],
    ['/api/v1/projects', 'admin'],
    ['/api/v1/dataproxy/artifact_urn', 'dataproxy'],
    ['/data/x', 'dataproxy'],
    ['/execution/echo', 'executions'],
    ['/no-such-route', 'console'],
    ['/authorizer', 'authorizer'],
    ['/flyteidl.service.AdminService/ListProjects', 'admin'],
  ])('%s is protected and reaches %s', (path, backend) => {
    expect(match(path, 'http')).toMatchObject({ protected: true, backend });
  });

  it.each([
    ['/flyteidl.service.AdminService/CreateExecution', 'admin', true],
    ['/flyteidl.service.IdentityService/UserInfo', 'admin', true],
    ['/flyteidl.service.WatchService/Other', 'admin', true],
    ['/cloudidl.workflow.RunService/WatchRun', 'executions', true],
    ['/cloudidl.workflow.RunService/CreateRun', 'executions', false],
    ['/cloudidl.queue.QueueService/WatchQueueMetrics', 'cluster', true],
    ['/cloudidl.queue.QueueService/WatchQueueMetricsOld', 'cluster', false],
    ['/datacatalog.DataCatalog/GetArtifact', 'datacatalog', false],
  ])('%s is protected and reaches %s (streaming: %s)', (path, backend, streaming) => {
    expect(match(path, 'grpc')).toMatchObject({ protected: true, backend, streaming });
  });

  it('lets no backend but the admin service see a credential', () => {
    for (const group of ROUTE_GROUPS)
      expect(group.forwardCredential).toBe(group.backend === 'admin' ? 'all' : 'none');
  });

  it('opens nothing beyond the listed groups', () => {
    expect(ROUTE_GROUPS.filter((group) => !group.protected).map((group) => group.name)).toEqual([
      'admin-open',
      'api-reference',
      'console-health',
      'billing-callbacks',
      'admin-rpc-open',
      'admin-rpc-open-streams',
    ]);
  });
});
