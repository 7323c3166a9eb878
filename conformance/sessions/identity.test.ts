import { testIdentity } from './identity-suite.ts';
import { LOCAL_DEPLOYMENTS } from './kinds.ts';

for (const under of LOCAL_DEPLOYMENTS) testIdentity(under);
