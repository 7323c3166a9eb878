import { describe } from 'vitest';
import { testQuiet } from '../../conformance/sessions/quiet-suite.ts';
import { REDIS_DEPLOYMENT } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server', () => testQuiet(REDIS_DEPLOYMENT));
