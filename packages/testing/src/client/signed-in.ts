/**
 * One user's stored tokens, the server that gave them, and sources in as many processes as a test wants.
 *
 * @module
 */

import type { TokenLock } from '../../../client/src/lock/token-lock.ts';
import {
  createTokenSource,
  type TokenSourceOptions,
} from '../../../client/src/source/create-token-source.ts';
import { createMemoryTokenStore } from '../../../client/src/store/memory-token-store.ts';
import type { TokenSource } from '../../../client/src/token-source.ts';
import type { TokenStore } from '../../../client/src/token-store.ts';
import { Clock } from '../time/clock.ts';
import { createMemoryLock } from './memory-lock.ts';
import { RotatingIssuer } from './rotating-issuer.ts';
import { HOUR, KEY } from './tokens.ts';

/** What a test has under its hand. */
export interface SignedIn {
  readonly clock: Clock;
  readonly issuer: RotatingIssuer;
  readonly store: TokenStore;
  readonly lock: TokenLock;
  /** What the sources have ridden out. */
  readonly outages: unknown[];
  /** A source as a further process has it. */
  create(more?: Partial<TokenSourceOptions>): TokenSource;
}

/** There is no sign-in. */
export function setUp(): SignedIn {
  const clock = new Clock();
  const issuer = new RotatingIssuer(clock.now);
  const store = createMemoryTokenStore();
  const lock = createMemoryLock();
  const outages: unknown[] = [];
  return {
    clock,
    issuer,
    store,
    lock,
    outages,
    create(more: Partial<TokenSourceOptions> = {}): TokenSource {
      return createTokenSource({
        key: KEY,
        grant: issuer.createGrant(),
        now: clock.now,
        openStore: async () => store,
        lock,
        onOutage: (failure) => outages.push(failure),
        ...more,
      });
    },
  };
}

/** Signed in an hour ago, so that the access token has just ended. */
export async function setUpExpired(): Promise<SignedIn> {
  const all = setUp();
  await all.store.write(KEY, all.issuer.issue());
  all.clock.advance(HOUR);
  return all;
}

/** The access token, or the error there is instead. */
export async function accessToken(result: ReturnType<TokenSource['get']>): Promise<string> {
  const token = await result;
  return token.ok ? token.value.accessToken : token.error.error;
}
