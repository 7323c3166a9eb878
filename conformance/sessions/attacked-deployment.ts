/**
 * A deployment whose clock the test moves, at an IdP that says what the test wants it to say.
 *
 * @module
 */

import { afterAll, describe } from 'vitest';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type AttackedFleetIdp, startAttackedFleetIdp } from './attacked-fleet-idp.ts';
import { type Deployment, type DeploymentUnderTest, startDeployment } from './deployment.ts';

/** Deployment, clock and IdP. */
export interface AttackedDeployment extends Deployment {
  readonly clock: MovedClock;
  readonly idp: AttackedFleetIdp;
}

/** A deployment that several suites share, one after the other. */
interface SharedUnderTest extends DeploymentUnderTest {
  /** Starts it for the first suite that asks. */
  attacked(): Promise<AttackedDeployment>;
}

/** Registers suites that run on one deployment: it starts with the first of them and ends after the last. */
export function shareAttackedDeployment(
  under: DeploymentUnderTest,
  suites: readonly ((shared: DeploymentUnderTest) => void)[],
): void {
  describe('on one deployment', () => {
    let deployment: Promise<AttackedDeployment> | undefined;
    afterAll(async () => (await deployment)?.stop());
    const attacked = () => (deployment ??= startAlone(under));
    const shared: SharedUnderTest = { ...under, attacked };
    for (const register of suites) register(shared);
  });
}

/** Starts all three, and `stop` ends them; on a deployment that several suites share both do nothing. */
export async function startAttackedDeployment(
  under: DeploymentUnderTest | SharedUnderTest,
): Promise<AttackedDeployment> {
  if (!('attacked' in under)) return startAlone(under);
  return { ...(await under.attacked()), stop: async () => undefined };
}

async function startAlone(under: DeploymentUnderTest): Promise<AttackedDeployment> {
  const clock = await startMovedClock();
  const idp = await startAttackedFleetIdp();
  const deployment = await startDeployment(under, { idp, clock });
  return {
    ...deployment,
    clock,
    idp,
    async stop() {
      await deployment.stop();
      await idp.close();
      await clock.close();
    },
  };
}
