import { LOCAL_DEPLOYMENTS } from './kinds.ts';
import { testStorm } from './storm-suite.ts';

for (const under of LOCAL_DEPLOYMENTS) testStorm(under);
