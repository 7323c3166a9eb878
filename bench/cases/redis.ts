/**
 * `/me` by a session cookie, with the sessions in Redis.
 *
 * @module
 */

import type { BenchCase } from '../bench-case.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { startSessionRedis } from '../servers/redis.ts';
import { startSallyport } from '../servers/sallyport.ts';
import { compareChecks, peerWhere, sallyportCandidate } from './check-comparison.ts';

/** The same person again and again, as in `me`. */
export const REDIS: BenchCase = {
  name: 'redis',
  title: '`/me` by cookie, sessions in Redis',
  needs: ['taskset', 'wrk', 'redis'],
  async run(bench) {
    const { ends } = bench;
    const idp = await startIdentityProvider(ends);
    const { port: redisPort } = await startSessionRedis(ends);
    const sallyport = await startSallyport(ends, { idp, redisPort });
    return {
      notes: [
        'One Redis for both, off the core of the servers. Sallyport remembers a session for as long as it follows the log of what was ended; oauth2-proxy asks Redis each time.',
      ],
      ...(await compareChecks(bench, {
        sallyport: sallyportCandidate(sallyport, {
          samples: [{ headers: { cookie: await sallyport.signIn() }, status: 200 }],
        }),
        peer: await peerWhere(bench, { idp, redisPort }, async (peer) => ({
          samples: [{ headers: { cookie: await peer.signIn() }, status: 202 }],
        })),
        wanted: { peer: 4, memoryMb: 150 },
      })),
    };
  },
};
