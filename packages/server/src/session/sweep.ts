/**
 * Removing sessions whose time is over, for as long as the process serves.
 *
 * @module
 */

import { describeFailure, type Log } from '../log/log.ts';
import type { Schedule } from '../time/schedule.ts';
import type { SessionStore } from './session-store.ts';

/** What {@link startSweeping} needs. */
export interface SweepOptions {
  readonly store: Pick<SessionStore, 'sweep'>;
  readonly schedule: Schedule;
  readonly log: Log;
}

const SWEEP_EVERY_MS = 60_000;
/** What ended while no process ran does not wait for long. */
const FIRST_SWEEP_MS = 3_000;
/** Few at a time, because a request may have to wait for the end of it. */
const SWEEP_LIMIT = 32;
/** Pause between two parts of one sweep. */
const SWEEP_AGAIN_MS = 50;

/**
 * Sweeps after three seconds and then once a minute, in parts until nothing is left. What fails is tried again
 * a minute later, and logged once for each reason.
 */
export function startSweeping({ store, schedule, log }: SweepOptions): { stop(): void } {
  let isStopped = false;
  let logged: string | undefined;
  let cancel = schedule(FIRST_SWEEP_MS, sweep);

  function sweep(): void {
    void sweepAndGoOn();
  }

  async function sweepAndGoOn(): Promise<void> {
    const swept = await sweepOnce();
    if (isStopped) return;
    cancel = schedule(swept < SWEEP_LIMIT ? SWEEP_EVERY_MS : SWEEP_AGAIN_MS, sweep);
  }

  async function sweepOnce(): Promise<number> {
    try {
      const swept = await store.sweep(SWEEP_LIMIT);
      logged = undefined;
      return swept;
    } catch (cause) {
      logOnce(describeFailure(cause));
      return 0;
    }
  }

  function logOnce(failure: string): void {
    // The end of the process may come in between.
    if (isStopped || failure === logged) return;
    logged = failure;
    log('warn', 'sweep_failed', { failure });
  }

  return {
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
