/**
 * Metadata for clients, put together: discovery documents, and the RPC services of metadata, identity and health.
 *
 * @module
 */

import { type HealthOptions, registerHealth } from './health/health-service.ts';
import type { Log } from './log/log.ts';
import { registerAuthMetadata } from './metadata/auth-metadata-service.ts';
import { registerIdentity } from './metadata/identity-service.ts';
import { createRestDoor, type MetadataOptions, type RestDoor } from './metadata/rest-door.ts';
import { createRpcHandler, type RpcHandler } from './metadata/rpc-handler.ts';

/** What answers by metadata. */
export interface MetadataPart {
  /** Discovery over plain HTTP. */
  readonly rest: RestDoor;
  /** Connect, gRPC and gRPC-Web. */
  readonly rpc: RpcHandler;
}

/** @param metadata - Absent when `useAuth` is false: then there is health alone. */
export function createMetadataPart(
  metadata: MetadataOptions | undefined,
  health: HealthOptions,
  log: Log,
): MetadataPart {
  const rpc = createRpcHandler((services) => {
    registerHealth(services, health);
    if (metadata === undefined) return;
    registerAuthMetadata(services, metadata);
    registerIdentity(services);
  }, log);
  return { rest: metadata === undefined ? () => false : createRestDoor(metadata), rpc };
}
