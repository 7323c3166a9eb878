/**
 * Two workers beside one process: what they cost each request.
 *
 * @module
 */

import { type BenchCase, measureInTurn } from '../bench-case.ts';
import { LOAD_CORE, SERVER_CORE } from '../process/pinned.ts';
import { workFinding } from '../report/findings.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { startSallyport } from '../servers/sallyport.ts';
import { sallyportCandidate } from './check-comparison.ts';

/** Requests for each second of processor time: on two cores, one of which also makes the load. */
export const WORKERS: BenchCase = {
  name: 'workers',
  title: '`/me` by cookie, two workers and one',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    const idp = await startIdentityProvider(bench.ends);
    const two = await startSallyport(bench.ends, {
      idp,
      workers: 2,
      cores: `${SERVER_CORE},${LOAD_CORE}`,
    });
    const one = await startSallyport(bench.ends, { idp });
    const work = async (sallyport: typeof one) => ({
      samples: [{ headers: { cookie: await sallyport.signIn() }, status: 200 }],
    });
    const measured = await measureInTurn(bench, [
      sallyportCandidate(two, await work(two), 'Sallyport, two workers'),
      sallyportCandidate(one, await work(one), 'Sallyport, one worker'),
    ]);
    const [own, other] = measured;
    return {
      notes: [
        'Two workers run on both cores, and share one of them with the load: what counts is how many requests are answered for each second of their processor time, not how many there are.',
      ],
      measured,
      hasRatesToShow: false,
      findings: own === undefined || other === undefined ? [] : [workFinding(own, other, 0.85)],
    };
  },
};
