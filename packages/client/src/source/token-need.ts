/**
 * What one caller needs of the tokens.
 *
 * @module
 */

import type { Grant } from '../grant.ts';
import type { TokenSet } from '../token-set.ts';
import { isFresh, isLiving } from './freshness.ts';
import type { TokenClock } from './token-clock.ts';

/** A need. Two callers with the same one share an outcome. */
export interface TokenNeed {
  readonly minTtlMs: number | undefined;
  /** The access token that a server has refused. */
  readonly refused: string | undefined;
}

/** Settings and ports of {@link createTokenNeedCheck}. */
export interface TokenNeedCheckOptions {
  readonly grant: Pick<Grant, 'isInteractive' | 'refresh'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly clock: TokenClock;
  /** Milliseconds before its end at which a token is replaced, half of its life at most. */
  readonly windowMs: number;
}

/** Says whether tokens can be handed out for a need as they are. */
export type TokenNeedCheck = (tokens: TokenSet, need: TokenNeed) => boolean;

/**
 * Creates the check. A token is fresh by the wall clock, which shows that it was set back, and by the clock of the
 * token. One that only a person could replace is enough to its end, unless a caller asks for
 * a remaining lifetime.
 */
export function createTokenNeedCheck({
  grant,
  now,
  clock,
  windowMs,
}: TokenNeedCheckOptions): TokenNeedCheck {
  return (tokens, { minTtlMs, refused }) => {
    if (tokens.accessToken === refused) return false;
    const needs = { windowMs, minTtlMs };
    const isFreshAt = (time: number): boolean => isFresh(tokens, time, needs);
    if (isFreshAt(now()) && isFreshAt(clock.nowFor(tokens))) return true;
    const needsPerson =
      grant.isInteractive && (grant.refresh === undefined || tokens.refreshToken === undefined);
    return needsPerson && minTtlMs === undefined && isLiving(tokens, clock.nowFor(tokens));
  };
}
