/**
 * A check that knows four bearers: what doors are tested with.
 *
 * @module
 */

import type { Check } from '../../../server/src/verdict/check.ts';
import type { CheckRequest } from '../../../server/src/verdict/check-request.ts';
import { readCredential, selectBearerHeaders } from '../../../server/src/verdict/credential.ts';
import { prepareIdentity } from '../../../server/src/verdict/identity.ts';
import type { Identity, Verdict } from '../../../server/src/verdict/verdict.ts';
import { NOON } from '../time/clock.ts';
import { ADA, ADA_SIGNS_IN } from './people.ts';

/** The origin the doors send people to. */
export const PUBLIC_ORIGIN = 'https://flow.example';
/** What slides Ada's cookie. */
export const SLID_COOKIE = '__Host-core_session=slid; Path=/';

/** Ada, with a claim of each JSON type. */
export const ADA_IDENTITY: Identity = createAda();

/** A check, and what it was asked. */
export interface FixedCheck {
  readonly check: Check;
  readonly asked: CheckRequest[];
}

/**
 * Creates the check. `Bearer good` is Ada; `Bearer slow` too, decided later; `Bearer slid` has a cookie to
 * slide; `Bearer forbidden` is Ada and may not enter; `Bearer outage` cannot be decided; anything else is refused.
 */
export function createFixedCheck(): FixedCheck {
  const asked: CheckRequest[] = [];
  const settings = {
    sessionCookieName: '__Host-core_session',
    bearerHeaders: selectBearerHeaders({
      httpAuthorizationHeader: 'core-http',
      grpcAuthorizationHeader: 'core-grpc',
      onlyConfiguredHeader: true,
    }),
  };
  return {
    asked,
    check(request) {
      asked.push(request);
      const credential = readCredential(request, settings);
      if (credential.kind === 'ambiguous')
        return { outcome: 'refused', reason: 'ambiguous_credentials' };
      if (credential.kind !== 'bearer') return { outcome: 'refused', reason: 'no_credential' };
      return decide(credential.token);
    },
  };
}

function decide(token: string): Verdict | Promise<Verdict> {
  const admitted = {
    outcome: 'admitted',
    identity: ADA_IDENTITY,
    session: undefined,
    setCookie: undefined,
    renewal: undefined,
  } as const;
  switch (token) {
    case 'good':
      return admitted;
    case 'slow':
      return new Promise((resolve) => setImmediate(() => resolve(admitted)));
    case 'slid':
      return {
        ...admitted,
        session: { id: 1, generation: 1, createdAt: NOON, endsAt: NOON, absoluteEnd: NOON },
        setCookie: SLID_COOKIE,
      };
    case 'forbidden':
      return { outcome: 'refused', reason: 'not_allowed', user: ADA };
    case 'outage':
      return { outcome: 'undecided', reason: 'store_unavailable', retryAfterSeconds: 7 };
    default:
      return { outcome: 'refused', reason: 'bearer_not_accepted' };
  }
}

function createAda(): Identity {
  const { principal, claims } = ADA_SIGNS_IN;
  const user = {
    ...ADA,
    additionalClaims: { groups: ['engineers'], tenant: 't1', level: 3, nested: { on: true } },
  };
  const identity = prepareIdentity({ principal, user, claims }, []);
  if (typeof identity === 'string') throw new Error(identity);
  return identity;
}
