/**
 * `/me` by session cookies that the process has not seen before.
 *
 * @module
 */

import type { Bench, BenchCase } from '../bench-case.ts';
import { requestsScript } from '../load/scripts.ts';
import { load } from '../load/wrk.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { startSessionRedis } from '../servers/redis.ts';
import { startSallyport } from '../servers/sallyport.ts';
import { compareChecks, peerWhere, sallyportCandidate } from './check-comparison.ts';

const WARM_UP_SECONDS = 1;
const SECONDS_MOST = 2;
const NOTES = [
  'Sallyport is started again before each round, and warmed up with other sessions; each request is then the first of its session in this process. The sessions were used less than a minute before, so that no use is noted.',
  'oauth2-proxy gets one cookie all the time: it remembers none, and opens it each time.',
];

/** Each request another session: all that is measured is reading and opening. */
export const COLD: BenchCase = {
  name: 'cold',
  title: '`/me` by cookie, another session each time, local store',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    return {
      notes: NOTES,
      ...(await compareCold(bench, undefined, { perSecond: 60_000, peer: 2.5, memoryMb: 130 })),
    };
  },
};

/** The same with the sessions in Redis: what every session costs once on each replica. */
export const COLD_REDIS: BenchCase = {
  name: 'cold-redis',
  title: '`/me` by cookie, another session each time, sessions in Redis',
  needs: ['taskset', 'wrk', 'redis'],
  async run(bench) {
    const { port } = await startSessionRedis(bench.ends);
    return {
      notes: NOTES,
      ...(await compareCold(bench, port, { perSecond: 40_000, memoryMb: 150 })),
    };
  },
};

interface Wanted {
  /** More sessions than can be opened in a second. */
  readonly perSecond: number;
  readonly peer?: number;
  readonly memoryMb: number;
}

async function compareCold(
  bench: Bench,
  redisPort: number | undefined,
  { perSecond, ...wanted }: Wanted,
): ReturnType<typeof compareChecks> {
  const { ends, plan, say } = bench;
  const seconds = Math.min(plan.seconds, SECONDS_MOST);
  const idp = await startIdentityProvider(ends);
  const sessions = perSecond * (WARM_UP_SECONDS + seconds) + 1;
  say(`  writing ${sessions} sessions`);
  const place = redisPort === undefined ? {} : { redisPort };
  const sallyport = await startSallyport(ends, { idp, sessions, ...place });
  const script = (from: number, to: number) =>
    requestsScript(
      ends,
      sallyport.cookies.slice(from, to).map((cookie) => ['cookie', cookie] as const),
      'none',
    );
  const warmUp = script(0, perSecond * WARM_UP_SECONDS);
  const cold = script(perSecond * WARM_UP_SECONDS, sessions - 1);
  const sample = { headers: { cookie: sallyport.cookies.at(-1) ?? '' }, status: 200 };
  return compareChecks(
    bench,
    {
      sallyport: sallyportCandidate(sallyport, {
        samples: [sample],
        script: cold,
        async prepare() {
          await sallyport.restart();
          const { connections } = plan;
          await load(sallyport.url, {
            ...{ seconds: WARM_UP_SECONDS, connections, headers: {}, script: warmUp },
          });
        },
      }),
      peer: await peerWhere(bench, { idp, ...place }, async (peer) => ({
        samples: [{ headers: { cookie: await peer.signIn() }, status: 202 }],
      })),
      wanted,
    },
    { seconds },
  );
}
