import { LOCAL_DEPLOYMENTS } from './kinds.ts';
import { testRevocation } from './revocation-suite.ts';

for (const under of LOCAL_DEPLOYMENTS) testRevocation(under);
