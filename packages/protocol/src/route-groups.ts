/**
 * Which routes are protected, and who serves them: the one table that the embedded gateway, the proxy
 * recipes and the chart are made from.
 *
 * @module
 */

/**
 * Which credential of the caller a backend still sees. `bearer` and `session` pass
 * that one on; `all` passes everything the authentication service itself reads, sign-in attempts
 * included, and is for that service alone.
 */
export type ForwardCredential = 'none' | 'bearer' | 'session' | 'all';

/** Routes of one transport that share a backend and a treatment. */
export interface RouteGroup {
  /** Unique, kebab-case; a metric label. */
  readonly name: string;
  readonly transport: 'http' | 'grpc';
  /** Whether the ingress asks the verdict first. */
  readonly protected: boolean;
  /** Name of the service behind: `admin`, `console`, `executions`, … */
  readonly backend: string;
  /**
   * For `http`: `/me` matches itself and everything below `/me/`; `/` matches every path.
   * For `grpc`: `pkg.Service` matches every method; `pkg.Service/Method` one; `pkg.Service/Watch*` a prefix.
   */
  readonly matches: readonly string[];
  readonly forwardCredential: ForwardCredential;
  /** Open at the ingress, and verified by the service itself: at the application layer it is protected. */
  readonly verifiedBehind?: true;
  /** Whether calls stay open for long: time-outs of the ingress do not apply. */
  readonly streaming: boolean;
}

/** Routes without a verdict: sign-in itself, discovery, health, and callbacks that prove themselves. */
const UNPROTECTED: readonly RouteGroup[] = [
  {
    ...unary('admin-open', 'http', 'admin', 'all'),
    protected: false,
    matches: [
      '/me',
      '/login',
      '/callback',
      '/logout',
      '/auth',
      '/.well-known',
      '/config',
      '/oauth2',
      '/healthcheck',
    ],
  },
  { ...unary('api-reference', 'http', 'redoc'), protected: false, matches: ['/openapi'] },
  { ...unary('console-health', 'http', 'console'), protected: false, matches: ['/healthz'] },
  {
    ...unary('billing-callbacks', 'http', 'usage'),
    protected: false,
    matches: ['/enqueue_metronome_request/v1', '/enqueue_stripe_request/v1'],
  },
  {
    // SDK clients learn here where to sign in: behind the verdict they would get 401 for ever.
    ...unary('admin-rpc-open', 'grpc', 'admin', 'all'),
    protected: false,
    matches: [
      'flyteidl.service.AuthMetadataService',
      'flyteidl2.auth.AuthMetadataService',
      'flyteidl.service.HealthService',
    ],
  },
  {
    // Not without a check: the admin service verifies this stream itself, at its application layer.
    ...streaming('admin-rpc-open-streams', 'admin', 'all'),
    protected: false,
    verifiedBehind: true,
    matches: ['flyteidl.service.WatchService/WatchExecutionStatusUpdates'],
  },
];

const PROTECTED_HTTP: readonly RouteGroup[] = [
  { ...unary('admin', 'http', 'admin', 'all'), matches: ['/api', '/v1', '/cloudadmin'] },
  {
    ...unary('dataproxy', 'http', 'dataproxy'),
    matches: [
      '/actor',
      '/agent',
      '/api/v1/dataproxy',
      '/data',
      '/dataplane',
      '/prometheus',
      '/spark-history-server',
    ],
  },
  {
    ...unary('executions', 'http', 'executions'),
    matches: ['/app', '/apps', '/echo', '/execution', '/workspace_instance', '/workspace_registry'],
  },
  {
    ...unary('cluster', 'http', 'cluster'),
    matches: ['/cluster', '/clusterconfig', '/clusterpool', '/managed_cluster'],
  },
  { ...unary('organizations', 'http', 'organizations'), matches: ['/org'] },
  { ...unary('authorizer', 'http', 'authorizer'), matches: ['/authorizer'] },
  {
    ...unary('identity', 'http', 'identity'),
    matches: ['/identities', '/members', '/oauth_app', '/policies', '/roles', '/users'],
  },
  { ...unary('usage', 'http', 'usage'), matches: ['/usage'] },
  { ...unary('artifacts', 'http', 'artifacts'), matches: ['/artifacts'] },
  { ...unary('grafana', 'http', 'grafana'), matches: ['/grafana'] },
  {
    ...unary('console', 'http', 'console'),
    matches: ['/', '/console', '/cost', '/dashboard', '/loading', '/resources', '/v2'],
  },
];

const PROTECTED_RPC_STREAMS: readonly RouteGroup[] = [
  {
    ...streaming('admin-rpc', 'admin', 'all'),
    matches: [
      'cloudidl.cloudadmin.CloudAdminService',
      'flyteidl.service.AdminService',
      'flyteidl.service.IdentityService',
      'flyteidl.service.SignalService',
      'flyteidl.service.WatchService',
      'flyteidl2.auth.IdentityService',
      'flyteidl2.project.ProjectService',
    ],
  },
  {
    ...streaming('executions-rpc-streams', 'executions'),
    matches: [
      'cloudidl.echo.EchoService',
      'cloudidl.execution.ExecutionService/GetExecutionOperation',
      'cloudidl.workflow.InternalRunService/Record*',
      'cloudidl.workflow.InternalRunService/Update*',
      'cloudidl.workflow.RunLogsService/TailLogs',
      'cloudidl.workflow.RunService/Watch*',
      'cloudidl.workflow.TaskService/Watch*',
      'cloudidl.workspace.WorkspaceInstanceService/WatchWorkspaceInstances',
      'flyteidl2.task.TaskService/Watch*',
      'flyteidl2.workflow.EventsProxyService',
      'flyteidl2.workflow.RunLogsService/TailLogs',
      'flyteidl2.workflow.RunService/Watch*',
    ],
  },
  {
    ...streaming('dataproxy-rpc-streams', 'dataproxy'),
    matches: [
      'cloudidl.actor.ActorEnvironmentService/Stream*',
      'cloudidl.logs.LogsService/TailTaskExecutionLogs',
    ],
  },
  {
    ...streaming('cluster-rpc-streams', 'cluster'),
    matches: ['cloudidl.queue.QueueService/WatchQueueMetrics'],
  },
  {
    ...streaming('leasor-rpc', 'leasor'),
    matches: ['cloudidl.queue.InternalQueueManagerService', 'cloudidl.workflow.v2.LeasorService'],
  },
  {
    ...streaming('actions-rpc', 'actions'),
    matches: ['cloudidl.pluginstate.PluginStateService', 'flyteidl2.actions.ActionsService'],
  },
  {
    ...streaming('apps-rpc-streams', 'executions'),
    matches: ['cloudidl', 'flyteidl2'].flatMap((idl) => [
      `${idl}.app.AppService/Lease`,
      `${idl}.app.AppService/Watch`,
    ]),
  },
  {
    ...streaming('apps-dataproxy-rpc-streams', 'dataproxy'),
    matches: ['cloudidl', 'flyteidl2'].flatMap((idl) => [
      `${idl}.app.AppLogsService/TailLogs`,
      `${idl}.app.ReplicaService/WatchReplicas`,
    ]),
  },
];

const PROTECTED_RPC: readonly RouteGroup[] = [
  {
    ...unary('executions-rpc', 'grpc', 'executions'),
    matches: [
      'cloudidl.app.AppService',
      'cloudidl.execution.ExecutionService',
      'cloudidl.workflow.InternalRunService',
      'cloudidl.workflow.RunService',
      'cloudidl.workflow.TaskService',
      'cloudidl.workflow.TriggerService',
      'cloudidl.workspace.WorkspaceInstanceService',
      'cloudidl.workspace.WorkspaceRegistryService',
      'flyteidl2.app.AppService',
      'flyteidl2.task.TaskService',
      'flyteidl2.trigger.TriggerService',
      'flyteidl2.workflow.RunService',
    ],
  },
  {
    ...unary('dataproxy-rpc', 'grpc', 'dataproxy'),
    matches: [
      'cloudidl.actor.ActorEnvironmentService',
      'cloudidl.agent.AgentService',
      'cloudidl.app.AppLogsService',
      'cloudidl.app.ReplicaService',
      'cloudidl.clouddataproxy.CloudDataProxyService',
      'cloudidl.imagebuilder.ImageService',
      'cloudidl.logs.LogsService',
      'cloudidl.objectstore.v1.ObjectStoreService',
      'cloudidl.secret.SecretService',
      'cloudidl.support.SupportService',
      'flyteidl.service.DataProxyService',
      'flyteidl2.app.AppLogsService',
      'flyteidl2.app.ReplicaService',
      'flyteidl2.dataproxy.DataProxyService',
      'flyteidl2.imagebuilder.ImageService',
      'flyteidl2.secret.SecretService',
      'flyteidl2.workflow.TranslatorService',
    ],
  },
  {
    ...unary('cluster-rpc', 'grpc', 'cluster'),
    matches: [
      'cloudidl.cloudaccounts.CloudAccountsService',
      'cloudidl.cluster.ClusterNodepoolService',
      'cloudidl.cluster.ClusterService',
      'cloudidl.cluster.ManagedClusterService',
      'cloudidl.clusterconfig.ClusterConfigService',
      'cloudidl.clusterpool.ClusterPoolService',
      'cloudidl.queue.InternalQueueService',
      'cloudidl.queue.QueueService',
      'flyteidl2.cluster.ClusterService',
    ],
  },
  {
    ...unary('identity-rpc', 'grpc', 'identity'),
    matches: [
      'cloudidl.apikey.APIKeyService',
      'cloudidl.identity.AppsService',
      'cloudidl.identity.IdentityService',
      'cloudidl.identity.MemberService',
      'cloudidl.identity.PolicyService',
      'cloudidl.identity.RoleService',
      'cloudidl.identity.SelfServe',
      'cloudidl.identity.UserService',
    ],
  },
  {
    ...unary('organizations-rpc', 'grpc', 'organizations'),
    matches: ['cloudidl.org.OrgService', 'flyteidl2.settings.SettingsService'],
  },
  {
    ...unary('authorizer-rpc', 'grpc', 'authorizer'),
    matches: ['cloudidl.authorizer.AuthorizerService'],
  },
  { ...unary('usage-rpc', 'grpc', 'usage'), matches: ['cloudidl.usage.UsageService'] },
  { ...unary('catalog-rpc', 'grpc', 'datacatalog'), matches: ['datacatalog.DataCatalog'] },
  {
    ...unary('cache-rpc', 'grpc', 'cacheservice'),
    matches: ['flyteidl.cacheservice.CacheService', 'flyteidl.cacheservice.v2.CacheService'],
  },
  {
    ...unary('artifacts-rpc', 'grpc', 'artifacts'),
    matches: ['flyteidl.artifact.ArtifactRegistry'],
  },
];

/**
 * The routes of the platform. The routes of a backend that an installation does not run stay protected;
 * an admitted request to one gets an error that no service answers there.
 *
 * The admin service's groups forward every credential, because it verifies again whichever one the
 * verdict was made from: a program's bearer, a browser's session, and for `/callback` the sign-in
 * attempt. All other backends see none.
 */
export const ROUTE_GROUPS: readonly RouteGroup[] = [
  ...UNPROTECTED,
  ...PROTECTED_HTTP,
  ...PROTECTED_RPC_STREAMS,
  ...PROTECTED_RPC,
];

type Defaults = Omit<RouteGroup, 'matches'>;

function unary(
  name: string,
  transport: 'http' | 'grpc',
  backend: string,
  forwardCredential: ForwardCredential = 'none',
): Defaults {
  return { name, transport, protected: true, backend, forwardCredential, streaming: false };
}

function streaming(
  name: string,
  backend: string,
  forwardCredential: ForwardCredential = 'none',
): Defaults {
  return { ...unary(name, 'grpc', backend, forwardCredential), streaming: true };
}
