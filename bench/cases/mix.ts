/**
 * `/me` as a platform with many people and programs asks for it.
 *
 * @module
 */

import type { BenchCase } from '../bench-case.ts';
import { mixRequests, mixSamples, USERS } from '../load/mix-requests.ts';
import { requestsScript } from '../load/scripts.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { PUBLIC_URL, startSallyport } from '../servers/sallyport.ts';
import { createTokenSigner } from '../servers/tokens.ts';
import { compareChecks, peerWhere, sallyportCandidate } from './check-comparison.ts';

/** Sign-ins at the peer, which decrypts the cookie of every request, whichever session it belongs to. */
const PEER_SIGN_INS = 50;
/** 70 % cookies, 20 % bearers, 10 % refused. */
export const MIX: BenchCase = {
  name: 'mix',
  title: `\`/me\` by a mix of 70 % cookies, 20 % JWTs and 10 % refused, ${USERS} users`,
  needs: ['taskset', 'wrk'],
  async run(bench) {
    const { ends } = bench;
    const idp = await startIdentityProvider(ends);
    const sign = createTokenSigner(idp);
    const tokens = Array.from({ length: USERS }, (_, n) => sign(n));
    const sallyport = await startSallyport(ends, { idp, sessions: USERS });
    const workOf = (cookies: readonly string[], status: number) => ({
      samples: mixSamples(cookies, tokens, status),
      script: requestsScript(ends, mixRequests(cookies, tokens), 'the first again'),
    });
    return {
      notes: [
        `Requests come in a fixed order that spreads users and kinds. oauth2-proxy gets ${PEER_SIGN_INS} cookies for all users: it remembers none of them.`,
      ],
      ...(await compareChecks(bench, {
        sallyport: sallyportCandidate(sallyport, workOf(sallyport.cookies, 200)),
        peer: await peerWhere(bench, { idp, bearerAudience: PUBLIC_URL }, async (peer) => {
          const cookies: string[] = [];
          for (let n = 0; n < PEER_SIGN_INS; n += 1) cookies.push(await peer.signIn());
          return workOf(cookies, 202);
        }),
        wanted: { memoryMb: 130 },
      })),
    };
  },
};
