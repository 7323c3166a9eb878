/**
 * `/me` for those who may not enter.
 *
 * @module
 */

import type { Bench, BenchCase } from '../bench-case.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { startSallyport } from '../servers/sallyport.ts';
import { bareCandidate, compareChecks, peerWhere, sallyportCandidate } from './check-comparison.ts';

/** As a browser has it whose session has ended: the right shape, and no session. */
const UNKNOWN = {
  sallyport: `core_session=AAAAAAAA.${'A'.repeat(43)}`,
  peer: `_oauth2_proxy=${'A'.repeat(300)}|1790000000|${'A'.repeat(43)}=`,
};

/** Requests without a valid credential. */
export const REFUSED: BenchCase = {
  name: 'refused',
  title: '`/me` without a credential: 401',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    return { notes: [], ...(await compareRefusals(bench, {}, {})) };
  },
};

/** Requests with the cookie of a session that has ended, or was never one. */
export const REFUSED_COOKIE: BenchCase = {
  name: 'refused-cookie',
  title: '`/me` by an unknown cookie: 401',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    return {
      notes: ['Sallyport looks such a session up in its store each time.'],
      ...(await compareRefusals(bench, { cookie: UNKNOWN.sallyport }, { cookie: UNKNOWN.peer })),
    };
  },
};

async function compareRefusals(
  bench: Bench,
  own: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): ReturnType<typeof compareChecks> {
  const idp = await startIdentityProvider(bench.ends);
  const sallyport = await startSallyport(bench.ends, { idp });
  const work = { samples: [{ headers: own, status: 401 }] };
  return compareChecks(bench, {
    sallyport: sallyportCandidate(sallyport, work),
    bare: await bareCandidate(bench, sallyport, work),
    peer: await peerWhere(bench, { idp }, () => ({ samples: [{ headers: other, status: 401 }] })),
    wanted: { memoryMb: 130 },
  });
}
