/**
 * `grpc.health.v1.Health`: whether the service is ready, for load balancers and orchestrators.
 *
 * @module
 */

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import {
  AuthMetadataService,
  AuthMetadataService2,
  Health,
  HealthCheckResponseSchema,
  IdentityService,
  IdentityService2,
  HealthCheckResponse_ServingStatus as Status,
} from '@sallyport/protocol/protobuf';
import type { Schedule } from '../time/schedule.ts';
import type { WaitingFor } from './readiness.ts';

/** What the service answers from. */
export interface HealthOptions {
  readonly waitingFor: WaitingFor;
  readonly schedule: Schedule;
  /** Aborts when the process stops, so that watchers do not hold it up. */
  readonly stopping: AbortSignal;
}

const SERVICES: ReadonlySet<string> = new Set([
  '',
  ...[AuthMetadataService, AuthMetadataService2, IdentityService, IdentityService2, Health].map(
    ({ typeName }) => typeName,
  ),
]);
const LOOK_EVERY_MS = 1_000;

/**
 * Registers the service. Unprotected: the status is its whole answer.
 *
 * @see [gRPC health checking](https://github.com/grpc/grpc/blob/master/doc/health-checking.md) `Check` of
 *   an unknown service is NOT_FOUND, `Watch` says SERVICE_UNKNOWN and goes on
 */
export function registerHealth(router: ConnectRouter, options: HealthOptions): void {
  const { waitingFor, schedule, stopping } = options;
  router.service(Health, {
    async check({ service }) {
      if (!SERVICES.has(service)) throw new ConnectError('No such service', Code.NotFound);
      return create(HealthCheckResponseSchema, { status: await statusOf(service) });
    },
    async *watch({ service }, { signal }) {
      const ended = AbortSignal.any([signal, stopping]);
      let sent: Status | undefined;
      while (!ended.aborted) {
        const status = await statusOf(service);
        if (status !== sent) yield create(HealthCheckResponseSchema, { status });
        sent = status;
        await pause(ended);
      }
      if (stopping.aborted) throw new ConnectError('The service stops', Code.Unavailable);
    },
  });

  async function statusOf(service: string): Promise<Status> {
    if (!SERVICES.has(service)) return Status.SERVICE_UNKNOWN;
    return (await waitingFor()).length === 0 ? Status.SERVING : Status.NOT_SERVING;
  }

  function pause(ended: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const cancel = schedule(LOOK_EVERY_MS, wake);
    ended.addEventListener('abort', wake);
    return promise.finally(() => {
      cancel();
      ended.removeEventListener('abort', wake);
    });
  }
}
