/**
 * Signing out, as far as what is kept goes.
 *
 * @module
 */

import type { LockWait, TokenLock } from '../lock/token-lock.ts';
import { tokenKeyId } from '../store/token-key-id.ts';
import type { TokenSet } from '../token-set.ts';
import type { TokenKey, TokenStore } from '../token-store.ts';

/**
 * Removes the tokens of a key, so that a refresh under way in another process cannot bring them back.
 *
 * Does not revoke them: the caller SHOULD, with what is returned (RFC 7009).
 *
 * @returns What was kept; `undefined` when there was nothing.
 * @throws {SallyportError} `SP_TOKEN_STORE_UNUSABLE`; `SP_TOKEN_LOCK_TIMEOUT`, and then nothing was removed.
 */
export async function forgetTokens(
  key: TokenKey,
  store: TokenStore,
  lock: TokenLock,
  wait: LockWait,
): Promise<TokenSet | undefined> {
  const lease = await lock.acquire(tokenKeyId(key), wait);
  try {
    const tokens = await store.read(key);
    await store.remove(key);
    return tokens;
  } finally {
    lease.release();
  }
}
