/**
 * A deployment whose clock the test moves, at an IdP whose refreshes it has its hand on.
 *
 * @module
 */

import { expect } from 'vitest';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import {
  type RotatingIdp,
  type RotatingIdpOptions,
  startRotatingIdp,
} from '../wire/rotating-idp.ts';
import { PATIENCE } from '../wire/workers.ts';
import {
  type Deployment,
  type DeploymentSettings,
  type DeploymentUnderTest,
  startDeployment,
} from './deployment.ts';

/** Deployment, clock and IdP. */
export interface RenewingDeployment extends Deployment {
  readonly clock: MovedClock;
  readonly idp: RotatingIdp;
  /** Moves the clock until sessions that were just renewed are due: still counting, and worth a renewal. */
  untilDue(): Promise<void>;
  /** Moves the clock until sessions that were just renewed count no longer without a renewal. */
  untilOverdue(): Promise<void>;
  /** Resolves when so many renewals, since the start, have been written. */
  renewed(count: number): Promise<void>;
  /** How many renewals have been written. */
  renewals(): number;
  /** Sessions that ended, as the log tells: `renewal_refused` and so on. */
  endings(): readonly unknown[];
}

/** Of the default `revalidateAfter` of ten minutes, seven to eight have passed when a renewal is due. */
const DUE_MS = 8 * 60_000;
/** Ten minutes and the default `renewalGrace` of five. */
const OVERDUE_MS = 15 * 60_000;

/** Starts all three; `stop` ends them. */
export async function startRenewingDeployment(
  under: DeploymentUnderTest,
  settings: Pick<DeploymentSettings, 'file'> &
    Pick<RotatingIdpOptions, 'leewaySeconds'> & {
      /** Whether the timers of the processes follow the clock. */
      readonly movesTimers?: boolean;
    } = {},
): Promise<RenewingDeployment> {
  const { leewaySeconds = 0, movesTimers = false, ...rest } = settings;
  const moved = await startMovedClock({ movesTimers });
  const idp = await startRotatingIdp({ clock: moved, leewaySeconds });
  const deployment = await startDeployment(under, { idp, clock: moved, ...rest });
  const clock: MovedClock = {
    ...moved,
    async advance(ms) {
      // Before the processes see the time, and take what is to last from then on.
      await deployment.elapse(ms);
      await moved.advance(ms);
    },
  };
  const renewals = (): number => deployment.log('session_renewed').length;
  return {
    ...deployment,
    clock,
    idp,
    untilDue: () => clock.advance(DUE_MS),
    untilOverdue: () => clock.advance(OVERDUE_MS),
    renewals,
    renewed: (count) => expect.poll(renewals, PATIENCE).toBeGreaterThanOrEqual(count),
    endings: () => deployment.log('session_ended').map((line) => line['reason']),
    async stop() {
      await deployment.stop();
      await idp.close();
      await clock.close();
    },
  };
}
