/**
 * A check of bearer tokens alone, for any service that has no sessions.
 *
 * @module
 */

import { createIssuerFetch } from '../issuer/issuer-request.ts';
import { createIssuers } from '../issuer/issuers.ts';
import { type Check, createCheck } from '../verdict/check.ts';
import { selectBearerHeaders } from '../verdict/credential.ts';
import { Generation } from '../verdict/generation.ts';
import { type BearerVerifierOptions, createBearerVerifier } from './bearer-verifier.ts';

/** Settings and ports of {@link createBearerCheck}. */
export interface BearerCheckOptions
  extends Omit<BearerVerifierOptions, 'fetch' | 'generation' | 'issuers'> {
  readonly fetch: typeof fetch;
  /** Origins that issuers and their endpoints may be at over plain http, beyond the loopback. */
  readonly dangerouslyAllowPlainHttpTo?: readonly string[];
  /** Names of the headers, lower case, and whether `authorization` is left out beside them. */
  readonly headers: Parameters<typeof selectBearerHeaders>[0];
  /** Called with an outage that left a request undecided. */
  readonly onOutage: (cause: unknown) => void;
}

/**
 * Creates a check that admits by bearer token and by nothing else: a cookie is no credential here.
 *
 * Imports neither a web framework nor a session store. The caller closes it when the service stops.
 */
export function createBearerCheck(options: BearerCheckOptions): {
  readonly check: Check;
  close(): void;
} {
  const issuers = createIssuers(options);
  const bearer = createBearerVerifier({
    ...options,
    issuers,
    fetch: createIssuerFetch(options),
    generation: new Generation(),
  });
  const check = createCheck({
    // Only the cross-site rule asks for it, and that stands on cookies.
    publicOrigin: '',
    credentials: {
      sessionCookieName: undefined,
      bearerHeaders: selectBearerHeaders(options.headers),
    },
    bearer,
    onOutage: options.onOutage,
  });
  return {
    check,
    close() {
      bearer.close();
      issuers.close();
    },
  };
}
