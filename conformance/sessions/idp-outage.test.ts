import { testIdpOutage } from './idp-outage-suite.ts';
import { LOCAL_DEPLOYMENTS } from './kinds.ts';

for (const under of LOCAL_DEPLOYMENTS) testIdpOutage(under);
