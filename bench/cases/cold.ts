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
import { assertCold, REMEMBERED } from './cold-reads.ts';

/** Asked about one after the other, again and again: each is forgotten long before its next turn. */
const COLD = 60_000;
/** Asked about before each round, to count: others, since what is shown twice in a short time is remembered. */
const COUNTED = 30_000;
/** The code of this path is compiled only once it is used much. */
const WARM_UP_SECONDS = 4;
const PROVED_SECONDS = 1;
const NOTES = [
  'So many sessions in turn that each is forgotten, or was never remembered, before it comes again; before each round the metrics have to show, over others of the kind, that every request reads its session from the store. The sessions count as used just now, so that no use is noted.',
  'oauth2-proxy gets one cookie all the time: it remembers none, and opens it each time.',
];

/** Each request another session: all that is measured is reading and opening. */
export const COLD_LOCAL: BenchCase = {
  name: 'cold',
  title: '`/me` by cookie, another session each time, local store',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    return {
      notes: NOTES,
      ...(await compareCold(bench, undefined, { peer: 2.5, memoryMb: 130 })),
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
      ...(await compareCold(bench, port, { memoryMb: 150 })),
    };
  },
};

interface Wanted {
  readonly peer?: number;
  readonly memoryMb: number;
}

async function compareCold(
  bench: Bench,
  redisPort: number | undefined,
  wanted: Wanted,
): ReturnType<typeof compareChecks> {
  const { ends, plan, say } = bench;
  const idp = await startIdentityProvider(ends);
  const sessions = REMEMBERED + COLD + COUNTED + 1;
  say(`  writing ${sessions} sessions`);
  const place = redisPort === undefined ? {} : { redisPort };
  const sallyport = await startSallyport(ends, { idp, sessions, ...place });
  const script = (from: number, to: number) =>
    requestsScript(
      ends,
      sallyport.cookies.slice(from, to).map((cookie) => ['cookie', cookie] as const),
      'the first again',
    );
  const run = (chosen: string, seconds: number) =>
    load(sallyport.url, {
      ...{ seconds, connections: plan.connections, headers: {}, script: chosen },
    });
  const remembered = script(0, REMEMBERED);
  const cold = script(REMEMBERED, REMEMBERED + COLD);
  const counted = script(REMEMBERED + COLD, REMEMBERED + COLD + COUNTED);
  const sample = { headers: { cookie: sallyport.cookies.at(-1) ?? '' }, status: 200 };
  let isWarm = false;
  return compareChecks(bench, {
    sallyport: sallyportCandidate(sallyport, {
      samples: [sample],
      script: cold,
      async prepare() {
        if (!isWarm) {
          await run(remembered, WARM_UP_SECONDS);
          await run(cold, WARM_UP_SECONDS);
          isWarm = true;
        }
        await assertCold(sallyport, () => run(counted, PROVED_SECONDS));
      },
    }),
    peer: await peerWhere(bench, { idp, ...place }, async (peer) => ({
      samples: [{ headers: { cookie: await peer.signIn() }, status: 202 }],
    })),
    wanted,
  });
}
