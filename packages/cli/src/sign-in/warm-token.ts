/**
 * Finds a stored token without a parser, a keyring or the network.
 *
 * @module
 */

import type { TokenSet } from '@sallyport/client';
import { readCachedLogin } from '../profile/cached-login.ts';
import { hasCredentialVariable, nameSources, type Sources } from '../profile/sources.ts';

/** A token and the header it is sent in. */
export interface FoundToken {
  readonly tokens: TokenSet;
  readonly header: string;
}

/**
 * Looks where the same command found its token the last time.
 *
 * @param minTtlMs - How long it must still live; the configured window when absent.
 * @param now - Epoch milliseconds.
 *
 * @returns `undefined` when nothing is remembered, nothing is kept, or it does not live long enough:
 *   the caller MUST then go the whole way, which also says what is wrong.
 */
export async function findCachedToken(
  sources: Sources,
  minTtlMs: number | undefined,
  now: number,
): Promise<FoundToken | undefined> {
  if (sources.problem !== '' || hasCredentialVariable(sources.environment)) return undefined;
  const login = readCachedLogin(sources.folders.cachedLogins, nameSources(sources));
  // A keyring takes longer than all that is saved here.
  if (login?.store !== 'file') return undefined;
  const { createFileTokenStore, isFresh } = await import('@sallyport/client/store');
  const tokens = await createFileTokenStore(sources.folders.tokens).read(login.key);
  if (tokens === undefined) return undefined;
  const isGood = isFresh(tokens, now, { windowMs: login.refreshWindowMs, minTtlMs });
  return isGood ? { tokens, header: login.header } : undefined;
}
