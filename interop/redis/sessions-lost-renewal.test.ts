import { describe } from 'vitest';
import { testLostRenewal } from '../../conformance/sessions/lost-renewal-suite.ts';
import { REDIS_DEPLOYMENT } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server', () => testLostRenewal(REDIS_DEPLOYMENT));
