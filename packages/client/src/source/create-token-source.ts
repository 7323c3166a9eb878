/**
 * A token that works, whatever it takes: memory, the store, a refresh or a new grant.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Grant, TokenRefusal } from '../grant.ts';
import type { LockLease, TokenLock } from '../lock/token-lock.ts';
import { tokenKeyId } from '../store/token-key-id.ts';
import type { TokenSet } from '../token-set.ts';
import type { GetTokenOptions, TokenSource } from '../token-source.ts';
import type { TokenKey, TokenStore } from '../token-store.ts';
import { isLiving } from './freshness.ts';
import { guardCallback } from './guarded-callback.ts';
import { JoinedFlights } from './joined-flights.ts';
import { KeptTokens } from './kept-tokens.ts';
import { type NotRenewed, type Renewed, renewTokens } from './renew-tokens.ts';
import { TokenClock } from './token-clock.ts';
import { createTokenNeedCheck, type TokenNeed } from './token-need.ts';

/** What {@link createTokenSource} needs. */
export interface TokenSourceOptions {
  readonly key: TokenKey;
  readonly grant: Grant;
  /** Epoch milliseconds; the same clock that the grant uses. */
  readonly now: () => number;
  /**
   * Milliseconds of a clock that is never set; `performance.now` when absent. A token that this process holds is used
   * until its end by this clock or by `now`, whichever comes first.
   */
  readonly monotonic?: () => number;
  /** Opens the store when tokens are first needed, once unless it fails. Absent: memory only. */
  readonly openStore?: () => Promise<TokenStore>;
  /** Required where other processes use the same store; absent: this process alone. */
  readonly lock?: TokenLock;
  /**
   * Whether tokens outlive the process. By default only those of an interactive grant do: what needs
   * no person can be had again at any time, and what is not stored cannot be stolen.
   */
  readonly keep?: 'store' | 'memory';
  /** Milliseconds before its end at which a token is replaced, half of its life at most; 5 minutes when absent. */
  readonly refreshWindowMs?: number;
  /** Whether a person may be asked; if not, an interactive grant is answered `login_required`. */
  readonly mayInteract?: boolean;
  /** Milliseconds to wait for another process; 60 s when absent, 10 min where a person may be asked. */
  readonly lockWaitMs?: number;
  /**
   * Hears of what was ridden out: a `SallyportError` or a {@link TokenRefusal} while the token still
   * lives, and a store that could not be written. A throw changes nothing.
   */
  readonly onOutage?: (failure: unknown) => void;
}

const REFRESH_WINDOW_MS = 300_000;
const LOCK_WAIT_MS = 60_000;
const LOCK_WAIT_FOR_PERSON_MS = 600_000;
/** After an attempt that failed while the token lived, the next one waits so long. */
const RETRY_AFTER_MS = 30_000;
/** A replacement that is refused as well is not replaced for so long: one more would not help. */
const REPLACE_COOL_DOWN_MS = 30_000;

/** The lease where no other process can interfere. */
export const OWN_LEASE: LockLease = { isHeld: () => true, release: () => undefined };

type Outcome = Result<TokenSet, TokenRefusal>;

/**
 * Creates the source of the tokens of one key.
 *
 * A kept token is handed out while it is fresh. Then it is exchanged once, for all callers of this
 * process and, under the lock, of all others: the process that gets the lock reads the store again, and
 * exchanges only what is still stale. While the token lives, an authorization server or a store that
 * fails is ridden out, and tried again after 30 seconds. A person is never asked because of the
 * refresh window alone: without a refresh token a token is used to its end.
 *
 * A token that replaced a refused one, and is refused too, is not replaced again for 30 seconds:
 * `replace` is then refused with `token_refused`.
 *
 * @returns A {@link TokenSource}. Its calls reject with `SP_IDP_UNREACHABLE`,
 *   `SP_TOKEN_STORE_UNUSABLE` or `SP_TOKEN_LOCK_TIMEOUT` only when no living token is at hand, and
 *   with the signal's reason after an abort.
 */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { key, grant, now, lock } = options;
  const onOutage = guardCallback('onOutage', options.onOutage);
  const { mayInteract = false, refreshWindowMs: windowMs = REFRESH_WINDOW_MS } = options;
  const keep = options.keep ?? (grant.isInteractive ? 'store' : 'memory');
  const openStore = keep === 'store' ? options.openStore : undefined;
  const waitsForPerson = grant.isInteractive && mayInteract;
  const waitMs = options.lockWaitMs ?? (waitsForPerson ? LOCK_WAIT_FOR_PERSON_MS : LOCK_WAIT_MS);
  const kept = new KeptTokens({ key, openStore, onOutage });
  const clock = new TokenClock(options);
  const isEnough = createTokenNeedCheck({ grant, now, clock, windowMs });
  const flights = new JoinedFlights({ fly, isEnough });
  let failedAt: number | undefined;
  let replacement: { readonly accessToken: string; readonly at: number } | undefined;

  return {
    async get({ minTtlMs, signal }: GetTokenOptions = {}) {
      const need = { minTtlMs, refused: undefined };
      const { current } = kept;
      if (current !== undefined) {
        if (isEnough(current, need)) return accept(current);
        const waits = minTtlMs === undefined && isRecent(failedAt, RETRY_AFTER_MS);
        if (waits && isLiving(current, clock.nowFor(current))) return accept(current);
      }
      return flights.acquire(need, signal);
    },
    async replace(refused, { signal } = {}) {
      const need = { minTtlMs: undefined, refused: refused.accessToken };
      const { current } = kept;
      if (current !== undefined && isEnough(current, need)) return accept(current);
      if (
        replacement?.accessToken === refused.accessToken &&
        isRecent(replacement.at, REPLACE_COOL_DOWN_MS)
      )
        return refuse(TOKEN_REFUSED);
      return flights.acquire(need, signal);
    },
  };

  async function fly(need: TokenNeed, signal: AbortSignal): Promise<Outcome> {
    let atHand = kept.current;
    try {
      atHand = (await kept.read()) ?? atHand;
      if (atHand !== undefined && isEnough(atHand, need)) return take(atHand);
      const wait = { waitMs, signal };
      const lease =
        openStore === undefined ? OWN_LEASE : await lock?.acquire(tokenKeyId(key), wait);
      try {
        const renewed = await renewUnderLock(need, lease ?? OWN_LEASE, signal);
        if (renewed.ok) return concluded(renewed.value, need);
        const { refusal, isForPerson } = renewed.error;
        return (isForPerson ? undefined : rideOut(refusal, atHand, need)) ?? refuse(refusal);
      } finally {
        lease?.release();
      }
    } catch (failure) {
      signal.throwIfAborted();
      const outcome = rideOut(failure, atHand, need);
      if (outcome === undefined) throw failure;
      return outcome;
    }
  }

  async function renewUnderLock(
    need: TokenNeed,
    lease: LockLease,
    signal: AbortSignal,
  ): Promise<Result<Renewed, NotRenewed>> {
    const basis = await kept.read();
    const isWanted = (tokens: TokenSet): boolean => isEnough(tokens, need);
    if (basis !== undefined && isWanted(basis))
      return accept({ tokens: basis, isExchanged: false });
    return renewTokens(basis, { grant, kept, lease, isWanted, mayInteract, signal });
  }

  function concluded({ tokens, isExchanged }: Renewed, need: TokenNeed): Outcome {
    if (isExchanged && need.refused !== undefined) {
      replacement = { accessToken: tokens.accessToken, at: now() };
      // Some authorization servers answer with the same token until it ends.
      if (tokens.accessToken === need.refused) return refuse(TOKEN_REFUSED);
    }
    return take(tokens);
  }

  function take(tokens: TokenSet): Outcome {
    failedAt = undefined;
    kept.use(tokens);
    clock.hold(tokens);
    return accept(tokens);
  }

  /** Goes on with a token that still lives, unless it is the one that was refused. */
  function rideOut(
    failure: unknown,
    tokens: TokenSet | undefined,
    need: TokenNeed,
  ): Outcome | undefined {
    if (tokens === undefined || tokens.accessToken === need.refused) return undefined;
    if (!isLiving(tokens, clock.nowFor(tokens))) return undefined;
    kept.use(tokens);
    clock.hold(tokens);
    failedAt = now();
    onOutage(failure);
    return accept(tokens);
  }

  /** Also false when the clock was set back to before it. */
  function isRecent(time: number | undefined, withinMs: number): boolean {
    return time !== undefined && now() >= time && now() - time < withinMs;
  }
}

/** A token that replaced a refused one is refused as well. */
export const TOKEN_REFUSED: TokenRefusal = {
  error: 'token_refused',
  description: 'The platform refuses a token that the authorization server has only just given.',
  hint: 'Compare issuer, audience and scopes with what the platform expects, and the clocks of both.',
};
