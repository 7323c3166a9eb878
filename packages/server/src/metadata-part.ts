/**
 * Metadata for clients, put together: discovery documents, and the RPC services of metadata, identity and health.
 *
 * @module
 */

import { HEALTH_PATHS, RPC_PATHS } from '@sallyport/protocol';
import type { HealthOptions } from './health/health-service.ts';
import type { Log } from './log/log.ts';
import { createRestDoor, type MetadataOptions, type RestDoor } from './metadata/rest-door.ts';
import { createRpcDoor, type RpcDoor } from './metadata/rpc-door.ts';

/** What answers by metadata. */
export interface MetadataPart {
  /** Discovery over plain HTTP. */
  readonly rest: RestDoor;
  /** Connect, gRPC and gRPC-Web. */
  readonly rpc: RpcDoor;
}

/** @param metadata - Absent when `useAuth` is false: then there is health alone. */
export function createMetadataPart(
  metadata: MetadataOptions | undefined,
  health: HealthOptions,
  log: Log,
): MetadataPart {
  const rpc = createRpcDoor({
    paths: new Set(metadata === undefined ? HEALTH_PATHS : RPC_PATHS),
    async load() {
      const { createRpcServices } = await import('./rpc-services.ts');
      return createRpcServices({ metadata, health, log });
    },
    log,
  });
  return { rest: metadata === undefined ? () => false : createRestDoor(metadata), rpc };
}
