/**
 * `/me` by a session cookie that is remembered, with the local store.
 *
 * @module
 */

import type { BenchCase } from '../bench-case.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import type { Peer } from '../servers/oauth2-proxy.ts';
import { startSallyport } from '../servers/sallyport.ts';
import {
  bareCandidate,
  compareChecks,
  NAMES,
  peerWhere,
  sallyportCandidate,
} from './check-comparison.ts';

/** What every protected request of a signed-in person costs. */
export const ME: BenchCase = {
  name: 'me',
  title: '`/me` by cookie, local store',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    const idp = await startIdentityProvider(bench.ends);
    const sallyport = await startSallyport(bench.ends, { idp });
    const work = { samples: [{ headers: { cookie: await sallyport.signIn() }, status: 200 }] };
    const toWork = async (peer: Peer) => ({
      samples: [{ headers: { cookie: await peer.signIn() }, status: 202 }],
    });
    const withoutTokens = await peerWhere(
      bench,
      { idp, withoutTokens: true },
      toWork,
      `${NAMES.peer}, no tokens kept`,
    );
    return {
      notes: [
        'Sallyport remembers an opened session until it is revoked, due, or five minutes old; oauth2-proxy opens its cookie each time.',
        'Sallyport keeps the refresh token and asks the identity provider with it whether a session still stands; so does the oauth2-proxy it is compared with. The one without tokens cannot, and has less to decrypt.',
      ],
      ...(await compareChecks(bench, {
        sallyport: sallyportCandidate(sallyport, work),
        bare: await bareCandidate(bench, sallyport, work),
        peer: await peerWhere(bench, { idp }, toWork),
        others: withoutTokens === undefined ? [] : [withoutTokens],
        wanted: { bare: 0.8, peer: 5, memoryMb: 130 },
      })),
    };
  },
};
