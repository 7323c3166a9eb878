import { describe } from 'vitest';
import {
  testRevocation,
  testRevocationBySubject,
} from '../../conformance/sessions/revocation-suite.ts';
import { REDIS_DEPLOYMENT } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server', () => {
  testRevocation(REDIS_DEPLOYMENT);
  testRevocationBySubject(REDIS_DEPLOYMENT);
});
