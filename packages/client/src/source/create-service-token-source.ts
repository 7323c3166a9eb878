/**
 * A token source for programs that run for months: replaces its token in the background, ahead of need.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import type { Wait } from '../grants/ports.ts';
import type { TokenSet } from '../token-set.ts';
import type { GetTokenOptions, TokenSource } from '../token-source.ts';
import { BackgroundRenewal } from './background-renewal.ts';
import { TOKEN_REFUSED, type TokenSourceOptions } from './create-token-source.ts';
import { guardCallback } from './guarded-callback.ts';
import { type Schedule, scheduleUnref } from './schedule.ts';
import { createTokenExchange, TOO_SHORT, type TokenExchangeOptions } from './token-exchange.ts';

/** What {@link createServiceTokenSource} needs. */
export interface ServiceTokenSourceOptions
  extends Pick<TokenExchangeOptions, 'compose' | 'refreshWindowMs'>,
    Pick<
      TokenSourceOptions,
      'now' | 'monotonic' | 'openStore' | 'lock' | 'lockWaitMs' | 'onOutage'
    > {
  /** Waits; keeps the process alive, because a caller waits with it. */
  readonly wait: Wait;
  /** Timer of the background; the default does not keep the process alive. */
  readonly schedule?: Schedule;
  /** Hears of each token that is obtained, the first included, for a copy that is kept elsewhere. A throw changes nothing. */
  readonly onTokens?: (tokens: TokenSet) => void;
  /** Numbers in [0, 1); `Math.random` when absent. */
  readonly random?: () => number;
  /**
   * The very first request waits for a random time up to this many milliseconds; 3 seconds when absent. Many
   * services that start together then do not come together.
   */
  readonly startSpreadMs?: number;
}

/** What a service knows of its token. Holds no secret. */
export interface ServiceTokenStatus {
  /** Epoch milliseconds; `undefined` without a token, and with one whose end is not known. */
  readonly expiresAt: number | undefined;
  /** Whether a call would get a token now, without waiting. */
  readonly isUsable: boolean;
  /** Present while attempts fail: since when (epoch milliseconds), how many, and why in one sentence. */
  readonly outage:
    | { readonly since: number; readonly attempts: number; readonly description: string }
    | undefined;
}

/** A token source with a life of its own. */
export interface ServiceTokenSource extends TokenSource {
  status(): ServiceTokenStatus;
  /** Ends the work in the background. Calls after it reject with a `TypeError`. */
  close(): void;
}

const START_SPREAD_MS = 3_000;
/** A replacement that is refused as well is not replaced for so long: one more would not help. */
const REPLACE_COOL_DOWN_MS = 30_000;

/**
 * Creates the source. Nothing is asked before the first call of `get`; from then on a token is at hand.
 *
 * `planRenewal` says when a token is replaced and until when it is used; no call carries one in its last
 * 10 seconds. Only the first call waits, and calls after the token has run out without an outage being known (a
 * machine that slept). While attempts fail, calls go on with the living token; after that they fail at once with
 * since when and why, and attempts go on in the background, with back-off (`TokenOutage`), until one works.
 *
 * One attempt is under way in a process. With a store and a lock, processes of one machine that share them share
 * tokens, too: the one that gets the lock reads the store again first. Both save requests and guard nothing, since
 * a token of this kind can be obtained twice. So a store or lock that cannot be used (a read-only root, a full
 * disk, a holder that is stuck) is reported to `onOutage`, and the process goes on alone, with its memory.
 *
 * @returns A {@link ServiceTokenSource}. `get` and `replace` are refused or reject as the last attempt did, with
 *   the first failure's time and cause. `token_lifetime_too_short` refuses a token that ends within 10 seconds.
 */
export function createServiceTokenSource(options: ServiceTokenSourceOptions): ServiceTokenSource {
  const { now, wait } = options;
  const onOutage = guardCallback('onOutage', options.onOutage);
  const onTokens = guardCallback('onTokens', options.onTokens);
  const { schedule = scheduleUnref, random = Math.random } = options;
  const { startSpreadMs = START_SPREAD_MS } = options;
  const ending = new AbortController();
  const obtain = createTokenExchange({
    ...options,
    onOutage,
    waitForStart: async () => {
      if (startSpreadMs > 0) await wait(random() * startSpreadMs, ending.signal);
    },
    signal: ending.signal,
  });
  const renewal = new BackgroundRenewal({
    ...options,
    obtain,
    schedule,
    random,
    onOutage,
    onTokens,
  });
  const { outage } = renewal;
  let replacement: { readonly accessToken: string; readonly at: number } | undefined;

  return {
    get(options: GetTokenOptions = {}) {
      const isPlain = options.minTtlMs === undefined && options.signal?.aborted !== true;
      return (isPlain ? renewal.answer : undefined) ?? get(options);
    },
    async replace({ accessToken }, { signal } = {}) {
      assertOpen(signal);
      const tokens = renewal.usable;
      if (tokens !== undefined && tokens.accessToken !== accessToken) return accept(tokens);
      return isJustReplaced(accessToken) ? refuse(TOKEN_REFUSED) : acquire(accessToken, signal);
    },
    status() {
      const description = outage.describe();
      const { since, attempts } = outage;
      return {
        expiresAt: renewal.expiresAt,
        isUsable: renewal.usable !== undefined,
        outage:
          since === undefined || description === undefined
            ? undefined
            : { since, attempts, description },
      };
    },
    close() {
      renewal.end();
      ending.abort(closed());
    },
  };

  function assertOpen(signal: AbortSignal | undefined): void {
    if (ending.signal.aborted) throw closed();
    signal?.throwIfAborted();
  }

  async function get({
    minTtlMs = 0,
    signal,
  }: GetTokenOptions): Promise<Result<TokenSet, TokenRefusal>> {
    assertOpen(signal);
    const tokens = renewal.usable;
    const isEnough =
      tokens !== undefined && (tokens.expiresAt ?? Number.POSITIVE_INFINITY) - now() >= minTtlMs;
    if (!isEnough) return acquire(undefined, signal);
    // The timer does this, unless the process or the machine slept.
    if (renewal.isWanted) void renewal.attempt();
    return accept(tokens);
  }

  /** Also false when the clock was set back. */
  function isJustReplaced(accessToken: string): boolean {
    if (replacement?.accessToken !== accessToken) return false;
    const sinceMs = now() - replacement.at;
    return sinceMs >= 0 && sinceMs < REPLACE_COOL_DOWN_MS;
  }

  /**
   * Waits for a token, other than the one that a server refused.
   *
   * In an outage nothing is waited for: the background tries again.
   */
  async function acquire(
    refused: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Result<TokenSet, TokenRefusal>> {
    const isOther = (tokens: TokenSet | undefined): tokens is TokenSet =>
      tokens !== undefined && tokens.accessToken !== refused;
    // An attempt that was under way may not have known of the refused token: then one more is needed.
    for (let attempts = 0; attempts < 2; attempts += 1) {
      const isJoined = renewal.isUnderWay;
      if (outage.since !== undefined && (isJoined || !renewal.isWanted)) break;
      await orAborted(renewal.attempt(refused), signal);
      assertOpen(signal);
      if (isOther(renewal.usable) || !isJoined) break;
    }
    const tokens = renewal.usable;
    if (isOther(tokens)) {
      if (refused !== undefined) replacement = { accessToken: tokens.accessToken, at: now() };
      return accept(tokens);
    }
    if (outage.since !== undefined) return outage.fail();
    if (refused === undefined) return refuse(TOO_SHORT);
    replacement = { accessToken: refused, at: now() };
    // Some authorization servers answer with the same token until it ends.
    return refuse(TOKEN_REFUSED);
  }
}

function closed(): TypeError {
  return new TypeError('the token source is closed');
}

/** Waits; an abort ends this wait alone. */
async function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', leave, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
