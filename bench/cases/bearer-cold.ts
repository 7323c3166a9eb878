/**
 * `/me` by JWTs that were never seen before.
 *
 * @module
 */

import type { BenchCase } from '../bench-case.ts';
import { requestsScript } from '../load/scripts.ts';
import { load } from '../load/wrk.ts';
import { rateAloneFinding } from '../report/findings.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { BEARER_HEADER, PUBLIC_URL, startSallyport } from '../servers/sallyport.ts';
import { bearer, createTokenSigner } from '../servers/tokens.ts';
import { compareChecks, peerWhere, sallyportCandidate } from './check-comparison.ts';

/** More than can be verified in a second. */
const TOKENS_PER_SECOND = 25_000;
const WARM_UP_SECONDS = 1;
const SECONDS_MOST = 2;

/** Each request another token: all that is measured is verifying. */
export const BEARER_COLD: BenchCase = {
  name: 'bearer-cold',
  title: '`/me` by JWT (RS256), another one each time',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    const { ends, plan, say } = bench;
    const seconds = Math.min(plan.seconds, SECONDS_MOST);
    const idp = await startIdentityProvider(ends);
    const sign = createTokenSigner(idp);
    const count = TOKENS_PER_SECOND * (WARM_UP_SECONDS + seconds);
    say(`  signing ${count} tokens`);
    const tokens = Array.from({ length: count }, (_, n) => sign(n));
    const script = (from: number, to?: number) =>
      requestsScript(
        ends,
        tokens.slice(from, to).map((token) => [BEARER_HEADER, `Bearer ${token}`] as const),
        'none',
      );
    const warmUp = script(0, TOKENS_PER_SECOND * WARM_UP_SECONDS);
    const cold = script(TOKENS_PER_SECOND * WARM_UP_SECONDS);
    const sample = bearer(sign(count));
    const sallyport = await startSallyport(ends, { idp });
    const { measured, findings } = await compareChecks(
      bench,
      {
        sallyport: sallyportCandidate(sallyport, {
          samples: [{ headers: sample, status: 200 }],
          script: cold,
          // Nothing is remembered: the same tokens are new again. Others have the code compiled.
          async prepare() {
            await sallyport.restart();
            const { connections } = plan;
            await load(sallyport.url, {
              ...{ seconds: WARM_UP_SECONDS, connections, headers: {}, script: warmUp },
            });
          },
        }),
        peer: await peerWhere(bench, { idp, bearerAudience: PUBLIC_URL }, () => ({
          samples: [{ headers: sample, status: 202 }],
          script: cold,
        })),
        wanted: { peer: 2.5, memoryMb: 130 },
      },
      { seconds },
    );
    const [own] = measured;
    return {
      notes: [
        'Both verify every token, the same ones. Sallyport is started again before each round, and warmed up with other tokens.',
      ],
      measured,
      findings: own === undefined ? findings : [...findings, rateAloneFinding(own, 12_000)],
    };
  },
};
