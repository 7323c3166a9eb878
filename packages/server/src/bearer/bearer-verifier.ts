/**
 * The verdict on a bearer token: recalls what is remembered, else verifies.
 *
 * @module
 */

import { hash } from 'node:crypto';
import type { IssuerFetch } from '../issuer/issuer-request.ts';
import { readTime } from '../issuer/jwt/claim-readers.ts';
import { isJwtShaped } from '../issuer/jwt/jwt.ts';
import type { Schedule } from '../time/schedule.ts';
import type { Occupancy } from '../verdict/bounded-cache.ts';
import type { BearerVerifier } from '../verdict/check.ts';
import type { Generation } from '../verdict/generation.ts';
import type { Refused, Undecided, Verdict } from '../verdict/verdict.ts';
import type { BearerSettings } from './bearer-settings.ts';
import { type BearerPolicy, decideVerified } from './bearer-verdict.ts';
import { createIntrospection } from './introspection.ts';
import {
  createJwtVerifier,
  type FetchedKeySet,
  type JwtVerifierOptions,
  type TokenProblem,
  type Verification,
} from './jwt-verifier.ts';
import { RememberedTokens } from './remembered-tokens.ts';

/** Settings and ports of {@link createBearerVerifier}. */
export interface BearerVerifierOptions
  extends Omit<JwtVerifierOptions, 'onKeyGone'>,
    Omit<BearerPolicy, 'requiredScopes'> {
  readonly settings: BearerSettings;
  /** For the introspection endpoint. */
  readonly fetch: IssuerFetch;
  readonly schedule: Schedule;
  readonly generation: Generation;
  /** Called when verification refuses a token, not for a remembered refusal. The issuer is a configured one, or unknown. */
  readonly onRefused?: ((problem: TokenProblem, issuer: string | undefined) => void) | undefined;
}

/** A verifier that follows its issuers until it is closed. */
export interface RunningBearerVerifier extends BearerVerifier {
  /** Every issuer, and whether its keys have been read. */
  issuers(): ReadonlyMap<string, boolean>;
  /**
   * Whether tokens of the first issuer can be verified: its keys have been read, or it has an introspection endpoint. A further
   * issuer that is away keeps nothing else from being answered.
   */
  isAble(): boolean;
  /** As the JWT verifier reports them. */
  keySets(): readonly FetchedKeySet[];
  /** Verdicts in memory, refusals counted. */
  remembered(): Occupancy;
  close(): void;
}

/** How long a verdict is remembered, by how it came about. */
const JWT_REMEMBERED_MS = 60_000;
const INTROSPECTED_REMEMBERED_MS = 30_000;
const INTROSPECTED_REFUSAL_REMEMBERED_MS = 10_000;
const ADMISSIONS_LIMIT = 8_192;
/** Refusals have a cache of their own: tokens made up at random push no admission out. */
const REFUSALS_LIMIT = 10_000;
const RETRY_AFTER_SECONDS = 5;

const UNDECIDED: Undecided = {
  outcome: 'undecided',
  reason: 'issuer_unavailable',
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};

/**
 * Creates the verifier and begins to fetch keys.
 *
 * An admission is remembered under the token's SHA-256, never beyond the token's end or a change of
 * configuration, access rules or key sets: that of a JWT for 60 s at most, one of the introspection
 * endpoint for 30 s. Of refusals only the endpoint's are remembered, for 10 s: a JWT is refused
 * again in less time than it takes to look it up.
 */
export function createBearerVerifier(options: BearerVerifierOptions): RunningBearerVerifier {
  const { settings, generation, now, onRefused } = options;
  const policy: BearerPolicy = { ...options, requiredScopes: settings.requiredScopes };
  const admissions = new RememberedTokens(ADMISSIONS_LIMIT);
  const refusals = new RememberedTokens(REFUSALS_LIMIT);
  const jwts = createJwtVerifier({ ...options, onKeyGone: () => generation.bump() });
  const introspection =
    settings.introspection === undefined
      ? undefined
      : createIntrospection(settings.introspection, settings, options);

  return {
    recall(token) {
      if (isJwtShaped(token)) return admissions.get(keyOf(token), now(), generation.current);
      if (introspection === undefined) return undefined;
      const key = introspection.keyOf(token);
      const [time, current] = [now(), generation.current];
      return admissions.get(key, time, current) ?? refusals.get(key, time, current);
    },

    decide(token) {
      // Taken before the verification: what changes meanwhile makes the result good for this request only.
      const generationAtStart = generation.current;
      if (isJwtShaped(token)) {
        const verification = jwts.verify(token);
        return verification instanceof Promise
          ? verification.then((result) => concludeJwt(token, result, generationAtStart))
          : concludeJwt(token, verification, generationAtStart);
      }
      if (introspection === undefined) return toVerdict({ outcome: 'refused', problem: 'opaque' });
      const key = introspection.keyOf(token);
      return introspection
        .verify(token)
        .then((result) => concludeIntrospected(key, result, generationAtStart));
    },

    issuers: () => jwts.issuers(),
    isAble: () =>
      introspection !== undefined ||
      jwts.issuers().get(settings.issuers[0]?.issuer ?? '') !== false,
    keySets: () => jwts.keySets(),
    remembered: () => ({
      size: admissions.size + refusals.size,
      limit: ADMISSIONS_LIMIT + REFUSALS_LIMIT,
    }),

    close() {
      introspection?.close();
    },
  };

  function concludeJwt(token: string, result: Verification, generationAtStart: number): Verdict {
    const verdict = toVerdict(result);
    if (verdict.outcome === 'admitted' && result.outcome === 'verified') {
      const decidedAt = now();
      const until = Math.min(endOf(result), decidedAt + JWT_REMEMBERED_MS);
      const entry = { verdict, decidedAt, until, generation: generationAtStart };
      if (until > decidedAt) admissions.set(keyOf(token), entry);
    }
    return verdict;
  }

  function concludeIntrospected(
    key: string,
    result: Verification,
    generationAtStart: number,
  ): Verdict {
    const verdict = toVerdict(result);
    const decidedAt = now();
    const remember = (where: RememberedTokens, until: number) =>
      where.set(key, { verdict, decidedAt, until, generation: generationAtStart });
    if (verdict.outcome === 'admitted' && result.outcome === 'verified')
      remember(admissions, Math.min(endOf(result), decidedAt + INTROSPECTED_REMEMBERED_MS));
    if (verdict.outcome === 'refused')
      remember(refusals, decidedAt + INTROSPECTED_REFUSAL_REMEMBERED_MS);
    return verdict;
  }

  function toVerdict(result: Verification): Verdict {
    switch (result.outcome) {
      case 'undecided':
        return result.retryAfterSeconds === undefined
          ? UNDECIDED
          : { ...UNDECIDED, retryAfterSeconds: result.retryAfterSeconds };
      case 'refused':
        onRefused?.(result.problem, result.issuer);
        return notAccepted(result);
      case 'verified': {
        const verdict = decideVerified(result.claims, result.settings, policy);
        if (verdict.outcome === 'refused' && verdict.reason === 'insufficient_scope')
          onRefused?.('scope', result.settings.issuer);
        return verdict;
      }
    }
  }
}

function notAccepted({
  problem,
  issuer,
  detail,
}: Extract<Verification, { outcome: 'refused' }>): Refused {
  const token = { problem, issuer, subject: undefined, client: undefined, detail };
  return { outcome: 'refused', reason: 'bearer_not_accepted', token };
}

/** Epoch milliseconds at which a verified token ends. */
function endOf({ claims }: Extract<Verification, { outcome: 'verified' }>): number {
  return (readTime(claims['exp']) ?? 0) * 1_000;
}

function keyOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
