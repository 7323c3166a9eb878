/**
 * Signing in in a pop-up window: a sign-in whose target is a page of ours that closes the window.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { isAccountDigest } from '../session/account-digest.ts';
import { singleParameter } from './sign-in-request.ts';

/**
 * Reads from the query of `/login` whether the sign-in runs in a pop-up window.
 *
 * The target then stands for the mode: it lies sealed in `state`, and in every link to try again.
 *
 * @returns `target`: where a sign-in in a pop-up ends, `undefined` for any other. `'not_understood'`
 *   when `mode` is not `popup`, `account` is no digest, or one of them is repeated.
 */
export function readPopupTarget(
  query: URLSearchParams,
  publicOrigin: string,
): { readonly target: string | undefined } | 'not_understood' {
  const mode = singleParameter(query, 'mode');
  const account = readAccount(query);
  if (mode === 'repeated' || account === 'not_understood') return 'not_understood';
  if (mode.value === undefined) return { target: undefined };
  if (mode.value !== 'popup') return 'not_understood';
  return { target: publicOrigin + signedInPath(account.digest) };
}

/** Reads who worked in the window that opened the pop-up: `account`, a digest, if it is given. */
export function readAccount(
  query: URLSearchParams,
): { readonly digest: string | undefined } | 'not_understood' {
  const account = singleParameter(query, 'account');
  if (account === 'repeated') return 'not_understood';
  const { value } = account;
  return value === undefined || isAccountDigest(value) ? { digest: value } : 'not_understood';
}

/** Path and query of the page a sign-in in a pop-up ends on. */
export function signedInPath(account: string | undefined): string {
  return account === undefined ? PATHS.signedIn : `${PATHS.signedIn}?account=${account}`;
}
