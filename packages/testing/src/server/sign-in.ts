/**
 * The sign-in endpoints over a real local store, with an IdP that signs Ada in.
 *
 * @module
 */

import { accept, refuse } from '@sallyport/protocol';
import type { RelyingParty } from '../../../server/src/issuer/relying-party/relying-party.ts';
import { Attempts } from '../../../server/src/sign-in/attempt.ts';
import { createLogin } from '../../../server/src/sign-in/login.ts';
import type { SignInDependencies } from '../../../server/src/sign-in/sign-in-dependencies.ts';
import type { SignInRequest } from '../../../server/src/sign-in/sign-in-request.ts';
import { type CheckUnderTest, createCheckUnderTest, PUBLIC } from './check.ts';
import { ADA_SIGNS_IN, OPEN_RULES, TOKENS } from './people.ts';

/** The endpoints' dependencies, and what they are made from. */
export interface SignInUnderTest extends Omit<CheckUnderTest, 'dependencies'> {
  /** What the IdP was asked, in order. */
  readonly asked: string[];
  readonly dependencies: SignInDependencies;
}

/** Creates the dependencies for the running test. */
export function createSignInUnderTest(): SignInUnderTest {
  const bench = createCheckUnderTest();
  const asked: string[] = [];
  const relyingParty: RelyingParty = {
    scopes: ['openid'],
    isReady: () => true,
    endSessionOrigin: () => undefined,
    authorizationUrl: async ({ state }) => {
      asked.push('authorize');
      return accept(new URL(`https://idp.example/authorize?state=${state}`));
    },
    exchange: async () => {
      asked.push('exchange');
      const claims = { iss: ADA_SIGNS_IN.principal.issuer, sub: ADA_SIGNS_IN.principal.subject };
      return { ok: true, value: { tokens: TOKENS, claims, accessTokenLifeMs: undefined } };
    },
    endSessionUrl: async () => {
      asked.push('end session');
      return undefined;
    },
    refresh: async () => refuse({ reason: 'unavailable', cause: undefined }),
    revoke: async () => {
      asked.push('revoke');
      return true;
    },
    verifyLogoutToken: async () => refuse({ reason: 'idp_unreachable' }),
    close: () => {},
  };
  const { ring, cookies } = bench.sessionDependencies;
  const dependencies: SignInDependencies = {
    redirects: { publicOrigin: PUBLIC, redirectOrigins: new Set(), landing: `${PUBLIC}/` },
    cookies,
    check: bench.check,
    sessions: bench.sessions,
    store: bench.store,
    ring,
    attempts: new Attempts({ ring, cookies, now: bench.clock.now }),
    relyingParty,
    access: () => OPEN_RULES,
    claimHeaders: [],
    idpQueryParameter: 'idp',
    isProtectedPath: () => true,
    log: () => {},
    audit: () => {},
  };
  return { ...bench, asked, dependencies };
}

/** One request to an endpoint. */
export function toSignInRequest(
  query: string,
  headers: SignInRequest['headers'],
  method = 'GET',
): SignInRequest {
  return {
    method,
    query: new URLSearchParams(query),
    headers,
    rawHeaders: Object.entries(headers).flatMap(([name, value]) => [name, String(value)]),
    address: '192.0.2.1',
    requestId: 'request-0001',
  };
}

/** Starts a sign-in with this query; gives the callback's query and the cookie that belongs to it. */
export async function startSignIn(
  { dependencies }: Pick<SignInUnderTest, 'dependencies'>,
  query = '',
): Promise<{ readonly query: string; readonly cookie: string }> {
  const response = await createLogin(dependencies)(toSignInRequest(query, {}));
  const state = new URL(response.headers.get('location') ?? '').searchParams.get('state') ?? '';
  const cookie = (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  return { query: `code=c&state=${state}`, cookie };
}
