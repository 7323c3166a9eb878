import { describe } from 'vitest';
import { testKeyRotation } from '../../conformance/sessions/key-rotation-suite.ts';
import { REDIS_DEPLOYMENT } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';

/** The ring is a file here as elsewhere; what was sealed with it is what is in another place. */
const ROTATIONS = 12;

describe.skipIf(REDIS.isLeftOut)('redis-server', () => {
  testKeyRotation(REDIS_DEPLOYMENT, ROTATIONS);
});
