/**
 * The deployments on the local store that the suites run on.
 *
 * @module
 */

import type { DeploymentUnderTest } from './deployment.ts';
import { ageLeases } from './local-leases.ts';

const setUp = async () => ({ elapse: (ms: number, state: string) => ageLeases(state, ms) });

/** Processes of their own. */
export const THREE_PROCESSES: DeploymentUnderTest = { name: 'three processes', setUp };

/** Workers of one process. */
export const THREE_WORKERS: DeploymentUnderTest = {
  name: 'one process with three workers',
  hasWorkers: true,
  setUp,
};
