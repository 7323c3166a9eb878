import { shareAttackedDeployment } from './attacked-deployment.ts';
import { testIdentity } from './identity-suite.ts';
import { testIdpOutage } from './idp-outage-suite.ts';
import { testKeyRotation } from './key-rotation-suite.ts';
import { THREE_WORKERS } from './kinds.ts';
import { testLostRenewal } from './lost-renewal-suite.ts';
import { testQuiet } from './quiet-suite.ts';
import { shareRenewingDeployment } from './renewing-deployment.ts';
import { testRevocation, testRevocationBySubject } from './revocation-suite.ts';
import { testStorm } from './storm-suite.ts';

shareRenewingDeployment(THREE_WORKERS, [
  testStorm,
  testQuiet,
  testRevocation,
  testLostRenewal,
  testIdpOutage,
  // It takes the keys away in the end.
  testKeyRotation,
]);
shareAttackedDeployment(THREE_WORKERS, [testRevocationBySubject, testIdentity]);
