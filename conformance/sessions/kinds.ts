/**
 * The deployments on the local store that every suite runs on.
 *
 * @module
 */

import type { DeploymentUnderTest } from './deployment.ts';

/** Processes of their own, and workers of one. */
export const LOCAL_DEPLOYMENTS: readonly DeploymentUnderTest[] = [
  { name: 'three processes' },
  { name: 'one process with three workers', hasWorkers: true },
];
