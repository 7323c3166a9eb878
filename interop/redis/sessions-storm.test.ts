import { describe } from 'vitest';
import { testStorm } from '../../conformance/sessions/storm-suite.ts';
import { REDIS_DEPLOYMENT } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server', () => testStorm(REDIS_DEPLOYMENT));
