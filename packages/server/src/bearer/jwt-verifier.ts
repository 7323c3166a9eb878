/**
 * Verifies JWT access tokens of several issuers.
 *
 * @module
 */

import type { Issuers } from '../issuer/issuers.ts';
import { type Jwt, type JwtProblem, parseJwt } from '../issuer/jwt/jwt.ts';
import { type SignatureResult, verifyJwtSignature } from '../issuer/jwt/jwt-signature.ts';
import type { JsonObject } from '../issuer/jwt/strict-json.ts';
import type { IssuerKeys } from '../issuer/keys/issuer-keys.ts';
import {
  type ClaimsPolicy,
  type ClaimsProblem,
  createClaimsPolicy,
  findClaimsProblem,
  isOtherToken,
} from './access-token.ts';
import type { BearerSettings, IssuerSettings } from './bearer-settings.ts';
import { explainTokenProblem, explainUnknownIssuer } from './token-detail.ts';

/** Why a token is not accepted. Stable: a field of the log. */
export type TokenProblem =
  | JwtProblem
  | ClaimsProblem
  | 'unknown_issuer'
  | 'algorithm'
  | 'unknown_key'
  | 'signature'
  | 'inactive'
  | 'token_type'
  | 'opaque'
  | 'scope';

/** The outcome of verifying a token: its claims, why it is refused, or undecided. */
export type Verification =
  | { readonly outcome: 'verified'; readonly settings: IssuerSettings; readonly claims: JsonObject }
  | {
      readonly outcome: 'refused';
      readonly problem: TokenProblem;
      readonly issuer?: string;
      /** What was found beside what is accepted, for the log. */
      readonly detail?: string | undefined;
    }
  | {
      readonly outcome: 'undecided';
      readonly issuer: string;
      /** How long its issuer is not asked again; absent where that says nothing. */
      readonly retryAfterSeconds?: number;
    };

/** Verifies a JWT; synchronous unless keys have to be fetched. Never throws or rejects for a token. */
export type JwtVerifier = (token: string) => Verification | Promise<Verification>;

/** When an issuer's keys were fetched last. */
export interface FetchedKeySet {
  readonly issuer: string;
  /** Epoch milliseconds; `undefined` when they never were. */
  readonly fetchedAt: number | undefined;
}

interface TrustedIssuer {
  readonly policy: ClaimsPolicy;
  readonly algorithms: ReadonlySet<string>;
  readonly keys: IssuerKeys;
}

/** Settings and ports of {@link createJwtVerifier}; failures are reported with the issuer. */
export interface JwtVerifierOptions {
  readonly settings: BearerSettings;
  readonly issuers: Issuers;
  readonly now: () => number;
  /** Called when a key has disappeared: verdicts on tokens that it verified no longer count. */
  readonly onKeyGone: () => void;
  readonly onFailure: (issuer: string, cause: unknown) => void;
  readonly onKeysLoaded: (issuer: string, ignored: number) => void;
}

/**
 * Creates the verifier and begins to fetch every issuer's keys.
 *
 * A token is looked up by its `iss`, so that one issuer's key never vouches for another's token. All
 * that costs nothing is checked before the signature; nothing of a token counts unless it holds.
 */
export function createJwtVerifier(options: JwtVerifierOptions): {
  readonly verify: JwtVerifier;
  /** Every issuer, and whether its keys have been read. */
  issuers(): ReadonlyMap<string, boolean>;
  /** The key set of every configured issuer, and when it was fetched last. */
  keySets(): readonly FetchedKeySet[];
} {
  const { settings, now, onFailure, onKeysLoaded } = options;
  const issuers = new Map(
    settings.issuers.map((issuer) => [issuer.issuer, createIssuer(issuer)] as const),
  );

  return {
    verify(token) {
      const parsed = parseJwt(token);
      if (!parsed.ok) return { outcome: 'refused', problem: parsed.error };
      const name = parsed.value.claims['iss'];
      const issuer = typeof name === 'string' ? issuers.get(name) : undefined;
      return issuer === undefined
        ? {
            outcome: 'refused',
            problem: 'unknown_issuer',
            detail: explainUnknownIssuer(parsed.value.claims['iss'], issuers.keys()),
          }
        : verifyWith(issuer, parsed.value);
    },
    issuers: () => new Map([...issuers].map(([issuer, { keys }]) => [issuer, keys.isKnown])),
    keySets: () =>
      [...issuers].map(([issuer, { keys }]) => ({ issuer, fetchedAt: keys.fetchedAt })),
  };

  function createIssuer(issuer: IssuerSettings): TrustedIssuer {
    const { keys } = options.issuers.of(issuer.issuer, issuer.metadataUrl);
    keys.follow({
      onKeyGone: options.onKeyGone,
      onFailure: (cause) => onFailure(issuer.issuer, cause),
      onLoaded: ({ ignored }) => onKeysLoaded(issuer.issuer, ignored),
    });
    return {
      policy: createClaimsPolicy(issuer, settings),
      algorithms: new Set(issuer.algorithms),
      keys,
    };
  }

  function verifyWith(issuer: TrustedIssuer, jwt: Jwt): Verification | Promise<Verification> {
    const { policy, algorithms, keys } = issuer;
    const refused = (problem: TokenProblem, detail?: string): Verification => ({
      outcome: 'refused',
      problem,
      issuer: policy.settings.issuer,
      detail,
    });
    if (!algorithms.has(jwt.algorithm)) return refused('algorithm');
    if (isOtherToken(jwt.type, jwt.claims)) return refused('not_an_access_token');
    const nowSeconds = now() / 1_000;
    const problem = findClaimsProblem(jwt.claims, policy, nowSeconds);
    if (problem !== undefined)
      return refused(problem, explainTokenProblem(problem, jwt.claims, policy, nowSeconds));

    const result = verifyJwtSignature(keys, jwt);
    return result instanceof Promise ? result.then(conclude) : conclude(result);

    function conclude(result: SignatureResult): Verification {
      switch (result) {
        case 'verified':
          return { outcome: 'verified', settings: policy.settings, claims: jwt.claims };
        case 'undecided':
          return { outcome: 'undecided', issuer: policy.settings.issuer };
        case 'pending':
          return {
            outcome: 'undecided',
            issuer: policy.settings.issuer,
            retryAfterSeconds: Math.max(1, Math.ceil(keys.untilAskMs('stranger') / 1_000)),
          };
        case 'unknown_key':
        case 'signature':
          return refused(result);
      }
    }
  }
}
