/**
 * The platform's services that are no person: what each reads its credentials from, and whom it calls.
 *
 * @module
 */

import type { ClientBlock } from '@sallyport/client';

/** A service, or the task pod. */
export type ActorName =
  | 'admin'
  | 'executions'
  | 'cluster'
  | 'usage'
  | 'scheduler'
  | 'propeller'
  | 'operator'
  | 'cluster-resource-sync'
  | 'executor'
  | 'task-pod';

/** A service of the control plane that accepts calls behind the gateway; also the name of a backend in the route table. */
export type PeerName = 'admin' | 'executions' | 'cluster' | 'usage';

/** How a call goes over the wire. */
export type CallProtocol = 'HTTP' | 'Connect' | 'gRPC';

/** A Kubernetes Secret with the service app's `client_secret`. */
export type SecretName =
  | 'core-admin-secrets'
  | 'core-secret-auth'
  | 'control-plane-services'
  | 'cloud-secret-auth';

/** The requirement's table "Secrets holding the client secret". */
export const SECRETS: Readonly<
  Record<SecretName, { readonly namespace: string; readonly mountPath: string }>
> = {
  'core-admin-secrets': { namespace: 'cloud-cp', mountPath: '/etc/secrets' },
  'core-secret-auth': { namespace: 'cloud-cp', mountPath: '/etc/secrets' },
  // The requirement leaves its name open.
  'control-plane-services': { namespace: 'cloud-cp', mountPath: '/etc/secrets/union' },
  'cloud-secret-auth': { namespace: 'cloud', mountPath: '/etc/union/secret' },
};

/** Namespace of the data plane; the task pod runs there. */
export const DATA_PLANE_NAMESPACE = 'cloud';

/** One row of {@link ACTORS}. */
export interface Actor {
  readonly name: ActorName;
  readonly plane: 'control plane' | 'data plane';
  /** Block of the configuration file that names its client; `undefined` for the task pod, which has an API key. */
  readonly block: ClientBlock | undefined;
  readonly secret: SecretName | undefined;
  /** Whether other actors call it. */
  readonly accepts: boolean;
  readonly calls: { readonly peer: PeerName; readonly protocol: CallProtocol };
}

/** All of them. The admin service itself is part of `sallyport up`; here it stands as a caller. */
export const ACTORS: readonly Actor[] = [
  control('admin', 'admin', 'core-admin-secrets', false, ['executions', 'gRPC']),
  control('executions', 'executions.app.adminClient.connection', 'control-plane-services', true, [
    'admin',
    'Connect',
  ]),
  control('cluster', 'union.auth', 'control-plane-services', true, ['usage', 'HTTP']),
  control('usage', 'union.auth', 'control-plane-services', true, ['cluster', 'gRPC']),
  control('scheduler', 'admin', 'core-secret-auth', false, ['admin', 'gRPC']),
  data('propeller', 'admin', ['admin', 'gRPC']),
  data('operator', 'union.auth', ['cluster', 'Connect']),
  data('cluster-resource-sync', 'union.auth', ['cluster', 'HTTP']),
  data('executor', 'union.auth', ['executions', 'Connect']),
  {
    name: 'task-pod',
    plane: 'data plane',
    block: undefined,
    secret: undefined,
    accepts: false,
    calls: { peer: 'executions', protocol: 'HTTP' },
  },
];

type Call = readonly [peer: PeerName, protocol: CallProtocol];

function control(
  name: ActorName,
  block: ClientBlock,
  secret: SecretName,
  accepts: boolean,
  [peer, protocol]: Call,
): Actor {
  return { name, plane: 'control plane', block, secret, accepts, calls: { peer, protocol } };
}

function data(name: ActorName, block: ClientBlock, [peer, protocol]: Call): Actor {
  return {
    name,
    plane: 'data plane',
    block,
    secret: 'cloud-secret-auth',
    accepts: false,
    calls: { peer, protocol },
  };
}
