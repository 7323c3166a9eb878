import { LOCAL_DEPLOYMENTS } from './kinds.ts';
import { testQuiet } from './quiet-suite.ts';

for (const under of LOCAL_DEPLOYMENTS) testQuiet(under);
