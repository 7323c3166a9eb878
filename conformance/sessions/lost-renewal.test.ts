import { LOCAL_DEPLOYMENTS } from './kinds.ts';
import { testLostRenewal } from './lost-renewal-suite.ts';

for (const under of LOCAL_DEPLOYMENTS) testLostRenewal(under);
