/**
 * `/me` over few connections and over a thousand, each beside bare node:http with as many.
 *
 * @module
 */

import { type BenchCase, measureInTurn } from '../bench-case.ts';
import type { Candidate } from '../load/candidate.ts';
import { load } from '../load/wrk.ts';
import { keptWorkFinding, p99Finding, workFinding } from '../report/findings.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { startSallyport } from '../servers/sallyport.ts';
import { bareCandidate, NAMES, sallyportCandidate } from './check-comparison.ts';

const MANY = 1_000;
/** Of the ratio to bare node:http with few connections. */
const KEPT_LEAST = 0.95;

/** Whether a connection costs more here than Node itself makes it cost. */
export const CONNECTIONS: BenchCase = {
  name: 'connections',
  title: '`/me` by cookie, over a thousand connections',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    const few = bench.plan.connections;
    const idp = await startIdentityProvider(bench.ends);
    const sallyport = await startSallyport(bench.ends, { idp });
    const headers = { cookie: await sallyport.signIn() };
    const work = { samples: [{ headers, status: 200 }] };
    const bare = await bareCandidate(bench, sallyport, work);
    const over = (candidate: Candidate, connections: number): Candidate => ({
      ...candidate,
      name: `${candidate.name}, ${connections} connections`,
      load: ({ seconds }) => load(candidate.url, { seconds, connections, headers }),
    });
    const measured = await measureInTurn(bench, [
      over(sallyportCandidate(sallyport, work, NAMES.sallyport), few),
      over(bare, few),
      over(sallyportCandidate(sallyport, work, NAMES.sallyport), MANY),
      over(bare, MANY),
    ]);
    const [ownFew, bareFew, ownMany, bareMany] = measured;
    if (ownFew === undefined || bareFew === undefined) return { notes: [], measured, findings: [] };
    if (ownMany === undefined || bareMany === undefined)
      return { notes: [], measured, findings: [] };
    return {
      notes: [
        'One cookie, remembered: what differs is the number of connections, each of which has a request under way all the time. Rates and times are those of the load generator, too, whose one thread has a thousand connections to look after; what a request costs the server shows in its processor time.',
      ],
      measured,
      hasRatesToShow: false,
      findings: [
        workFinding(ownFew, bareFew),
        workFinding(ownMany, bareMany),
        keptWorkFinding([ownMany, bareMany], [ownFew, bareFew], KEPT_LEAST),
        p99Finding(ownMany, bareMany),
      ],
    };
  },
};
