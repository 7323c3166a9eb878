import { testFrozenIdp } from './frozen-idp-suite.ts';

// Leases keep their own time here: holders that live prolong them, whatever the clock says.
testFrozenIdp({ name: 'three processes' });
