/**
 * All cases, in the order they are run and shown.
 *
 * @module
 */

import type { BenchCase } from './bench-case.ts';
import { AGENT } from './cases/agent.ts';
import { ATTACH } from './cases/attach.ts';
import { BEARER } from './cases/bearer.ts';
import { BEARER_COLD } from './cases/bearer-cold.ts';
import { COLD_LOCAL, COLD_REDIS } from './cases/cold.ts';
import { CONNECTIONS } from './cases/connections.ts';
import { GATEWAY } from './cases/gateway.ts';
import { ME } from './cases/me.ts';
import { METADATA } from './cases/metadata.ts';
import { MIX } from './cases/mix.ts';
import { NGINX } from './cases/nginx.ts';
import { REDIS } from './cases/redis.ts';
import { REFUSED, REFUSED_COOKIE } from './cases/refused.ts';
import { SESSIONS } from './cases/sessions.ts';
import { START } from './cases/start.ts';
import { TOKEN_COMMAND } from './cases/token-command.ts';
import { WORKERS } from './cases/workers.ts';

/** All cases. */
export const CASES: readonly BenchCase[] = [
  ...[ME, CONNECTIONS, REDIS, BEARER, REFUSED, REFUSED_COOKIE],
  ...[COLD_LOCAL, SESSIONS, COLD_REDIS, BEARER_COLD, MIX],
  ...[NGINX, GATEWAY, WORKERS, METADATA, START, TOKEN_COMMAND, AGENT, ATTACH],
];
