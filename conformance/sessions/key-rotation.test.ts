import { testKeyRotation } from './key-rotation-suite.ts';
import { LOCAL_DEPLOYMENTS } from './kinds.ts';

for (const under of LOCAL_DEPLOYMENTS) testKeyRotation(under);
