/**
 * One attempt of a service to get a token: of another process of the machine, or of the token endpoint.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { Grant, TokenRefusal } from '../grant.ts';
import type { LockLease } from '../lock/token-lock.ts';
import { tokenKeyId } from '../store/token-key-id.ts';
import type { TokenSet } from '../token-set.ts';
import type { TokenKey } from '../token-store.ts';
import { OWN_LEASE, type TokenSourceOptions } from './create-token-source.ts';
import { KeptTokens } from './kept-tokens.ts';
import { isDue, planRenewal } from './renewal-plan.ts';

/** What {@link createTokenExchange} needs. */
export interface TokenExchangeOptions
  extends Pick<TokenSourceOptions, 'now' | 'openStore' | 'lock' | 'lockWaitMs'> {
  /**
   * Gives the grant, which MUST need no person, and the key that its tokens are kept under. Called before each
   * attempt until it succeeds: it may have to ask the platform.
   */
  readonly compose: () => Promise<{ readonly key: TokenKey; readonly grant: Grant }>;
  /** Milliseconds before its end at which a token is replaced, half of its life at most. */
  readonly refreshWindowMs: number;
  /** Hears of a store or lock that cannot be used. */
  readonly onOutage: (failure: unknown) => void;
  /** Awaited before the first request. */
  readonly waitForStart: () => Promise<void>;
  /** Ends an attempt that is under way. */
  readonly signal: AbortSignal;
}

/** The attempt was answered, and the answer is no token. */
export class AttemptRefused extends Error {
  readonly refusal: TokenRefusal;

  constructor(refusal: TokenRefusal) {
    super(refusal.error);
    this.refusal = refusal;
  }
}

/** A token that ends before a call could carry it. */
export const TOO_SHORT: TokenRefusal = {
  error: 'token_lifetime_too_short',
  description:
    'The identity provider gives tokens that end within 10 seconds, and no call carries a token in its last 10 seconds.',
  hint: 'Have the identity provider give this client tokens of 5 minutes or more, and compare the clocks.',
};

const LOCK_WAIT_MS = 20_000;

/**
 * Creates the function that makes an attempt; the caller MUST make one at a time.
 *
 * With a store and a lock, the process that gets the lock reads the store again first, so that one of all processes
 * asks the endpoint. Neither guards anything: what fails there is reported, and the attempt goes on without.
 *
 * @returns Takes the access token that is not to be used again, if there is one, and rejects with
 *   {@link AttemptRefused} or as the grant, the platform or the store does.
 */
export function createTokenExchange(
  options: TokenExchangeOptions,
): (refused: string | undefined) => Promise<TokenSet> {
  const { compose, now, openStore, lock, refreshWindowMs, onOutage, signal } = options;
  const { lockWaitMs = LOCK_WAIT_MS } = options;
  let kept: KeptTokens | undefined;
  let hasAsked = false;

  return async (refused) => {
    const { key, grant } = await compose();
    kept ??= new KeptTokens({ key, openStore, onOutage });
    const shared = await readShared(kept, refused);
    if (shared !== undefined) return shared;
    if (!hasAsked) {
      hasAsked = true;
      await options.waitForStart();
    }
    const lease = await acquireLock(key);
    try {
      const obtainedMeanwhile = await readShared(kept, refused);
      if (obtainedMeanwhile !== undefined) return obtainedMeanwhile;
      const obtained = await grant.obtain({ signal });
      if (!obtained.ok) throw new AttemptRefused(obtained.error);
      const tokens = obtained.value;
      if (now() >= planRenewal(tokens, refreshWindowMs, 0).usableUntil)
        throw new AttemptRefused(TOO_SHORT);
      await kept.write(tokens, lease);
      return tokens;
    } finally {
      lease.release();
    }
  };

  /** What another process has obtained, if it is good for a while yet. */
  async function readShared(
    tokens: KeptTokens,
    refused: string | undefined,
  ): Promise<TokenSet | undefined> {
    if (openStore === undefined) return undefined;
    try {
      const shared = await tokens.read();
      if (shared === undefined || shared.accessToken === refused) return undefined;
      return isDue(shared, planRenewal(shared, refreshWindowMs, 0), now()) ? undefined : shared;
    } catch (failure) {
      onOutage(failure);
      return undefined;
    }
  }

  async function acquireLock(key: TokenKey): Promise<LockLease> {
    if (openStore === undefined || lock === undefined) return OWN_LEASE;
    try {
      return await lock.acquire(tokenKeyId(key), { waitMs: lockWaitMs, signal });
    } catch (failure) {
      if (!(failure instanceof SallyportError)) throw failure;
      onOutage(failure);
      return OWN_LEASE;
    }
  }
}
