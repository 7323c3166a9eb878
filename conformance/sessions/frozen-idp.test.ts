import { testFrozenIdp } from './frozen-idp-suite.ts';
import { LOCAL_DEPLOYMENTS } from './kinds.ts';

// What waits here is one process; that it is one of several workers makes no difference.
for (const under of LOCAL_DEPLOYMENTS.slice(0, 1)) testFrozenIdp(under);
