/**
 * What serves while `server.security.useAuth` is false.
 *
 * @module
 */

import type { AdminServer } from './admin-server.ts';
import { createApplicationHandler } from './application-handler.ts';
import { Readiness } from './health/readiness.ts';
import { createClientAddress } from './listener/client-address.ts';
import type { Log } from './log/log.ts';
import { createRouter } from './router.ts';
import type { Schedule } from './time/schedule.ts';

/** What {@link createDisabledServer} needs. */
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
}: DisabledServerOptions): Pick<AdminServer, 'handler' | 'stopping'> {
  const router = createRouter({
    signIn: undefined,
    clientAddress: createClientAddress([]),
    countsAddresses: false,
    rateLimit: () => ({ ok: true }),
    waitingFor: readiness.waitingFor,
    now: () => 0,
    log,
  });
  const health = { waitingFor: readiness.waitingFor, schedule, stopping: readiness.stopping };
  return {
    handler: createApplicationHandler({ auth: undefined, health, router, log }),
    stopping: () => readiness.stop(),
  };
}
