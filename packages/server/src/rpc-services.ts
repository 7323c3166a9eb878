/**
 * The RPC services of metadata, identity and health. Imported at the first call: the RPC library and the messages take
 * 3 MiB.
 *
 * @module
 */

import { type HealthOptions, registerHealth } from './health/health-service.ts';
import type { Log } from './log/log.ts';
import { registerAuthMetadata } from './metadata/auth-metadata-service.ts';
import { registerIdentity } from './metadata/identity-service.ts';
import type { MetadataOptions } from './metadata/rest-door.ts';
import type { RpcDoor } from './metadata/rpc-door.ts';
import { createRpcHandler } from './metadata/rpc-handler.ts';

/** What the services answer from. */
export interface RpcServicesOptions {
  /** Absent when `useAuth` is false: then there is health alone. */
  readonly metadata: MetadataOptions | undefined;
  readonly health: HealthOptions;
  readonly log: Log;
}

/** Creates the handler of every service's calls. */
export function createRpcServices({ metadata, health, log }: RpcServicesOptions): RpcDoor {
  return createRpcHandler((services) => {
    registerHealth(services, health);
    if (metadata === undefined) return;
    registerAuthMetadata(services, metadata);
    registerIdentity(services);
  }, log);
}
