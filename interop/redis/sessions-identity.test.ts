import { describe } from 'vitest';
import { testIdentity } from '../../conformance/sessions/identity-suite.ts';
import { REDIS_DEPLOYMENT } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server', () => testIdentity(REDIS_DEPLOYMENT));
