/**
 * The deployments on the local store that every suite runs on.
 *
 * @module
 */

import type { DeploymentUnderTest } from './deployment.ts';
import { ageLeases } from './local-leases.ts';

const setUp = async () => ({ elapse: (ms: number, state: string) => ageLeases(state, ms) });

/** Processes of their own, and workers of one. */
export const LOCAL_DEPLOYMENTS: readonly DeploymentUnderTest[] = [
  { name: 'three processes', setUp },
  { name: 'one process with three workers', hasWorkers: true, setUp },
];
