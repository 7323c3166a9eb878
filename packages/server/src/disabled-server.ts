/**
 * What serves while `server.security.useAuth` is false.
 *
 * @module
 */

import type { AdminServer } from './admin-server.ts';
import { createApplicationHandler } from './application-handler.ts';
import { gatewayDoor } from './doors/gateway.ts';
import { HTTP_DOORS } from './doors/http-doors.ts';
import { statusDoor } from './doors/session-status.ts';
import { serviceDoor } from './front-part.ts';
import { Readiness } from './health/readiness.ts';
import { createClientAddress } from './listener/client-address.ts';
import type { Log } from './log/log.ts';
import { createMetadataPart } from './metadata-part.ts';
import { createRouter } from './router.ts';
import type { Schedule } from './time/schedule.ts';

/** What {@link createDisabledServer} is made from. */
export interface DisabledServerOptions {
  readonly schedule: Schedule;
  readonly log: Log;
  /** As of {@link AdminServerOptions}. */
  readonly readiness?: Readiness | undefined;
}

/**
 * Serves instead of {@link createAdminServer} when `useAuth` is false: health alone. None of `/login`,
 * `/callback`, `/me` and `/logout` exists, and no discovery.
 *
 * An ingress that still asks `/me` gets 404, which nginx turns into an error and never into an
 * admission.
 */
export function createDisabledServer({
  schedule,
  log,
  readiness = new Readiness(),
}: DisabledServerOptions): Pick<AdminServer, 'handlers' | 'stopping' | 'doorNames'> {
  const { waitingFor, stopping } = readiness;
  const router = createRouter({
    signIn: undefined,
    clientAddress: createClientAddress([]),
    waitingFor,
    log,
  });
  const metadata = createMetadataPart(undefined, { waitingFor, schedule, stopping }, log);
  return {
    handlers: { http: createApplicationHandler({ auth: undefined, metadata, router }) },
    stopping: () => readiness.stop(),
    // Their counts stay 0: a dashboard and an alert find the same series as with authentication.
    doorNames: new Set(
      [...HTTP_DOORS, statusDoor, serviceDoor, gatewayDoor].map(({ name }) => name),
    ),
  };
}
