/**
 * Verifies opaque tokens by an introspection endpoint (RFC 7662).
 *
 * @module
 */

import { hash } from 'node:crypto';
import { requestIntrospection } from '../issuer/introspection/introspection-request.ts';
import { RequestBudget } from '../issuer/introspection/request-budget.ts';
import type { IssuerFetch } from '../issuer/issuer-request.ts';
import { readClientId } from '../issuer/jwt/claim-readers.ts';
import { TOKEN_MAX_LENGTH } from '../issuer/jwt/jwt.ts';
import type { JsonObject } from '../issuer/jwt/strict-json.ts';
import type { Schedule } from '../time/schedule.ts';
import { createClaimsPolicy, findClaimsProblem } from './access-token.ts';
import type { BearerSettings, IntrospectionSettings } from './bearer-settings.ts';
import type { TokenProblem, Verification } from './jwt-verifier.ts';

/** Ports of {@link createIntrospection}. */
export interface IntrospectionOptions {
  readonly fetch: IssuerFetch;
  readonly now: () => number;
  readonly schedule: Schedule;
  readonly onFailure: (issuer: string, cause: unknown) => void;
}

/** Answers about opaque tokens. */
export interface Introspection {
  /** The key of an answer in a cache: a hash of everything that decided it. */
  keyOf(token: string): string;
  /** Asks, or joins a request about the same token. Never rejects. */
  verify(token: string): Promise<Verification>;
  close(): void;
}

/** How long an answer holds that does not say how long, in seconds. */
const WITHOUT_END_SECONDS = 30;
/** RFC 6750 section 2.1. */
const B64_TOKEN = /^[\w\-.~+/]+=*$/;

/** Creates the client of the endpoint. */
export function createIntrospection(
  endpoint: IntrospectionSettings,
  settings: BearerSettings,
  options: IntrospectionOptions,
): Introspection {
  const { fetch, now, onFailure } = options;
  const { issuer } = endpoint;
  const policy = createClaimsPolicy(issuer, settings);
  const budget = new RequestBudget({ ...options, perSecond: endpoint.requestsPerSecond });
  const inFlight = new Map<string, Promise<Verification>>();
  // A token accepted for one endpoint, audience or scope says nothing about another.
  const decidedBy = JSON.stringify([
    endpoint.endpoint,
    [...policy.audiences].toSorted(),
    [...settings.requiredScopes].toSorted(),
  ]);
  const undecided: Verification = { outcome: 'undecided', issuer: issuer.issuer };

  return {
    keyOf,
    verify(token) {
      if (token.length > TOKEN_MAX_LENGTH || !B64_TOKEN.test(token))
        return Promise.resolve(refused('form'));
      const key = keyOf(token);
      const asked = inFlight.get(key);
      if (asked !== undefined) return asked;
      const verification = ask(token).finally(() => inFlight.delete(key));
      inFlight.set(key, verification);
      return verification;
    },
    close: () => budget.close(),
  };

  function keyOf(token: string): string {
    return hash('sha256', `${decidedBy}\n${token}`, 'base64url');
  }

  async function ask(token: string): Promise<Verification> {
    try {
      const answer = await budget.run(() => requestIntrospection(endpoint, token, fetch));
      return answer === undefined ? undecided : judge(answer);
    } catch (cause) {
      onFailure(issuer.issuer, cause);
      return undecided;
    }
  }

  function judge(answer: JsonObject): Verification {
    if (answer['active'] !== true) return refused('inactive');
    if (!isBearerAccessToken(answer)) return refused('token_type');
    const nowSeconds = now() / 1_000;
    const claims = {
      iss: issuer.issuer,
      exp: Math.floor(nowSeconds) + WITHOUT_END_SECONDS,
      ...answer,
    };
    // Optional in RFC 7662, and needed here: it identifies tokens of the web application.
    if (readClientId(claims, issuer.clientIdClaims) === undefined) return refused('client');
    const problem = findClaimsProblem(claims, policy, nowSeconds);
    return problem === undefined
      ? { outcome: 'verified', settings: issuer, claims }
      : refused(problem);
  }

  function refused(problem: TokenProblem): Verification {
    return { outcome: 'refused', problem, issuer: issuer.issuer };
  }
}

/**
 * Whether an answer is about an access token that is a bearer's. The endpoint also knows refresh
 * tokens, and the hint in the request is only a hint: the answer has to say what it is about.
 */
function isBearerAccessToken(answer: JsonObject): boolean {
  const { token_type: type, typ, token_use: use } = answer;
  const isAccess = use === 'access' || use === 'access_token';
  if (type !== undefined && !isBearer(type)) return false;
  if (typ !== undefined && !isBearer(typ)) return false;
  if (use !== undefined && !isAccess) return false;
  return isBearer(type) || isBearer(typ) || isAccess;
}

function isBearer(value: unknown): boolean {
  return typeof value === 'string' && value.toLowerCase() === 'bearer';
}
