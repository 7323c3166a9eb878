/**
 * A deployment whose clock the test moves, at an IdP whose refreshes it has its hand on.
 *
 * @module
 */

import { afterAll, describe, expect } from 'vitest';
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
  /** Sessions that ended, as the log reports: `renewal_refused` and so on. */
  endings(): readonly unknown[];
}

/** Of the default `revalidateAfter` of ten minutes, seven to eight have passed when a renewal is due. */
const DUE_MS = 8 * 60_000;
/** Ten minutes and the default `renewalGrace` of five. */
const OVERDUE_MS = 15 * 60_000;

/** For which the IdP takes a refresh token that was used again, where a suite does not say otherwise. */
export const LEEWAY_SECONDS = 30;
/** Of each process, where a suite does not say otherwise. */
export const RENEWALS_PER_SECOND = 10;

/** Settings of {@link startRenewingDeployment}. */
export type RenewingSettings = Pick<DeploymentSettings, 'file'> &
  Pick<RotatingIdpOptions, 'leewaySeconds'> & {
    /** Whether the timers of the processes follow the clock. */
    readonly movesTimers?: boolean;
  };

/** What all suites run on that need nothing else. */
const COMMON: RenewingSettings = {
  leewaySeconds: LEEWAY_SECONDS,
  file: ['session:', `  renewalsPerSecond: ${RENEWALS_PER_SECOND}`],
};

/** A deployment that several suites share, one after the other. */
interface SharedUnderTest extends DeploymentUnderTest {
  /** Starts it for the first suite that asks. */
  running(): Promise<RenewingDeployment>;
}

/**
 * Registers suites that run on one deployment: it starts with the first of them and ends after the last.
 *
 * Each sees the log lines and refreshes since it has begun. Processes that one has killed have been replaced.
 */
export function shareRenewingDeployment(
  under: DeploymentUnderTest,
  suites: readonly ((shared: DeploymentUnderTest) => void)[],
): void {
  describe('on one deployment', () => {
    let deployment: Promise<RenewingDeployment> | undefined;
    afterAll(async () => (await deployment)?.stop());
    const running = () => (deployment ??= startAlone(under, COMMON));
    const shared: SharedUnderTest = { ...under, running };
    for (const register of suites) register(shared);
  });
}

/**
 * Starts all three, and `stop` ends them; on a deployment that several suites share both do nothing.
 *
 * @param settings - Where the common ones do not fit; such a deployment is not shared.
 */
export async function startRenewingDeployment(
  under: DeploymentUnderTest | SharedUnderTest,
  settings?: RenewingSettings,
): Promise<RenewingDeployment> {
  if (settings !== undefined || !('running' in under)) return startAlone(under, settings ?? COMMON);
  const deployment = await under.running();
  // What was written until now is older.
  await deployment.clock.advance(1);
  return seenFromNow(deployment);
}

/** The same deployment for the next suite: what earlier ones caused is left out. */
function seenFromNow(deployment: RenewingDeployment): RenewingDeployment {
  const since = new Date(deployment.clock.now()).toISOString();
  const refreshesBefore = deployment.idp.seenRefreshes().length;
  const log: Deployment['log'] = (event) =>
    deployment.log(event).filter((line) => String(line['time']) >= since);
  return {
    ...deployment,
    ...readLog(log),
    idp: {
      ...deployment.idp,
      seenRefreshes: () => deployment.idp.seenRefreshes().slice(refreshesBefore),
    },
    stop: async () => undefined,
  };
}

/** What suites read in the log. */
function readLog(
  log: Deployment['log'],
): Pick<RenewingDeployment, 'log' | 'renewals' | 'renewed' | 'endings'> {
  const renewals = (): number => log('session_renewed').length;
  return {
    log,
    renewals,
    renewed: (count) => expect.poll(renewals, PATIENCE).toBeGreaterThanOrEqual(count),
    endings: () => log('session_ended').map((line) => line['reason']),
  };
}

async function startAlone(
  under: DeploymentUnderTest,
  settings: RenewingSettings,
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
  return {
    ...deployment,
    ...readLog(deployment.log),
    clock,
    idp,
    untilDue: () => clock.advance(DUE_MS),
    untilOverdue: () => clock.advance(OVERDUE_MS),
    async stop() {
      await deployment.stop();
      await idp.close();
      await clock.close();
    },
  };
}
