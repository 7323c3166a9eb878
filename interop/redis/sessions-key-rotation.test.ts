import { describe } from 'vitest';
import { testKeyRotation } from '../../conformance/sessions/key-rotation-suite.ts';
import { REDIS_DEPLOYMENT } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server', () => testKeyRotation(REDIS_DEPLOYMENT));
