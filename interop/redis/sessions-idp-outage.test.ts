import { describe } from 'vitest';
import { testIdpOutage } from '../../conformance/sessions/idp-outage-suite.ts';
import { REDIS_DEPLOYMENT } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server', () => testIdpOutage(REDIS_DEPLOYMENT));
