/**
 * Ports of the production graph: clock, timers, network, log. Tests pass their own.
 *
 * @module
 */

import type { Schedule } from '@sallyport/server';
import { createPatientFetch, createPlainFetch } from '@sallyport/server/issuer';
import type { Log, Metrics, Tracer } from '@sallyport/server/observe';
import { systemSchedule } from './system-schedule.ts';

/** Ports of the composition root. */
export interface Ports {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly schedule: Schedule;
  readonly fetch: typeof fetch;
  /** For requests whose answer must not be lost. */
  readonly patientFetch: typeof fetch;
  readonly log: Log;
  /** Absent where nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Absent where no metrics are served. */
  readonly metrics?: Metrics | undefined;
}

/** The system's clock, timers and network. A waiting timer does not keep the process alive. */
export function createSystemPorts(log: Log): Ports {
  return {
    now: Date.now,
    schedule: systemSchedule,
    fetch: createPlainFetch(systemSchedule),
    patientFetch: createPatientFetch(systemSchedule),
    log,
  };
}
