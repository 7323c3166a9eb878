/**
 * `/me` by a JWT that was seen before, beside a session cookie.
 *
 * @module
 */

import type { BenchCase } from '../bench-case.ts';
import { rateFinding } from '../report/findings.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { PUBLIC_URL, startSallyport } from '../servers/sallyport.ts';
import { bearer, createTokenSigner } from '../servers/tokens.ts';
import { compareChecks, NAMES, peerWhere, sallyportCandidate } from './check-comparison.ts';

const BY_COOKIE = `${NAMES.sallyport}, by cookie`;

/** A program that calls again and again with the token it has. */
export const BEARER: BenchCase = {
  name: 'bearer',
  title: '`/me` by JWT, the same one again',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    const idp = await startIdentityProvider(bench.ends);
    const sallyport = await startSallyport(bench.ends, { idp });
    const headers = bearer(createTokenSigner(idp)(0));
    const cookie = await sallyport.signIn();
    const byCookie = { samples: [{ headers: { cookie }, status: 200 }] };
    const { measured, findings } = await compareChecks(bench, {
      sallyport: sallyportCandidate(sallyport, { samples: [{ headers, status: 200 }] }),
      peer: await peerWhere(bench, { idp, bearerAudience: PUBLIC_URL }, () => ({
        samples: [{ headers, status: 202 }],
      })),
      others: [sallyportCandidate(sallyport, byCookie, BY_COOKIE)],
      wanted: { peer: 8, memoryMb: 130 },
    });
    const [own, other] = [NAMES.sallyport, BY_COOKIE].map((name) =>
      measured.find((each) => each.name === name),
    );
    return {
      notes: [
        'Sallyport remembers a verified token for at most a minute; oauth2-proxy verifies its signature each time. The token is the same for both.',
      ],
      measured,
      findings:
        own === undefined || other === undefined
          ? findings
          : [...findings, rateFinding(own, other, 0.8)],
    };
  },
};
