/**
 * Renews tokens under the lock, so that one process at a time does.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Grant, TokenRefusal } from '../grant.ts';
import type { LockLease } from '../lock/token-lock.ts';
import type { TokenSet } from '../token-set.ts';
import type { KeptTokens } from './kept-tokens.ts';

/** What {@link renewTokens} needs. */
export interface Renewal {
  readonly grant: Grant;
  readonly kept: KeptTokens;
  readonly lease: LockLease;
  /** Whether tokens that another process has obtained meanwhile suffice. */
  readonly isWanted: (tokens: TokenSet) => boolean;
  /** Whether a person may be asked. */
  readonly mayInteract: boolean;
  /** Ends the wait for a person. A refresh is never broken off: its answer may hold the only refresh token that still works. */
  readonly signal: AbortSignal;
}

/** Tokens, and whether an exchange was needed for them. */
export interface Renewed {
  readonly tokens: TokenSet;
  readonly isExchanged: boolean;
}

/** Why there are none. */
export interface NotRenewed {
  readonly refusal: TokenRefusal;
  /** Whether a person was asked, or would have to be: then a token that still lives is no answer. */
  readonly isForPerson: boolean;
}

/** The second attempt is for tokens that another holder of a lost lock wrote in between. */
const REFRESHES_AT_MOST = 2;

/**
 * Refreshes, and where that is not possible any more asks for a new grant.
 *
 * The caller holds the lock and has read the store since.
 *
 * @param basis - What is kept now; `undefined` when there is nothing.
 *
 * @returns The tokens, kept already. Refused with `login_required` when only a person could help and
 *   none may be asked, and with the authorization server's error otherwise.
 * @throws {SallyportError} `SP_IDP_UNREACHABLE`; nothing was changed.
 */
export async function renewTokens(
  basis: TokenSet | undefined,
  renewal: Renewal,
): Promise<Result<Renewed, NotRenewed>> {
  const { grant, kept, lease, isWanted, mayInteract, signal } = renewal;
  let known = basis;
  for (let refreshes = 0; refreshes < REFRESHES_AT_MOST; refreshes += 1) {
    if (known?.refreshToken === undefined || grant.refresh === undefined) break;
    const refreshed = await grant.refresh(known.refreshToken);
    if (refreshed.ok) {
      const tokens = carryOver(refreshed.value, known.refreshToken);
      await kept.write(tokens, lease);
      return accept({ tokens, isExchanged: true });
    }
    if (refreshed.error.error !== 'invalid_grant')
      return refuse({ refusal: refreshed.error, isForPerson: false });
    const stored = await kept.read();
    // Only the refresh token that failed is invalid; another one is a valid sign-in of another process.
    if (stored?.refreshToken === known.refreshToken) {
      await kept.remove(lease);
      known = undefined;
    } else {
      if (stored !== undefined && isWanted(stored))
        return accept({ tokens: stored, isExchanged: false });
      known = stored;
    }
  }

  if (grant.isInteractive && !mayInteract) {
    kept.forget();
    return refuse({ refusal: LOGIN_REQUIRED, isForPerson: true });
  }
  signal.throwIfAborted();
  const obtained = await grant.obtain({ signal });
  if (!obtained.ok) return refuse({ refusal: obtained.error, isForPerson: grant.isInteractive });
  await kept.write(obtained.value, lease);
  return accept({ tokens: obtained.value, isExchanged: true });
}

/** RFC 6749 section 6: without a new refresh token in the answer the old one goes on. */
function carryOver(tokens: TokenSet, refreshToken: string): TokenSet {
  return tokens.refreshToken === undefined ? { ...tokens, refreshToken } : tokens;
}

const LOGIN_REQUIRED: TokenRefusal = {
  error: 'login_required',
  description: 'There is no sign-in, or it has ended.',
  hint: 'Sign in again.',
};
