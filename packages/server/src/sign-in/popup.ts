/**
 * Signing in in a pop-up window: a sign-in whose target is a page of ours that can close the window.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { singleParameter } from './sign-in-request.ts';

/**
 * Reads from the query of `/login` whether the sign-in runs in a pop-up window.
 *
 * The target then stands for the mode: it lies sealed in `state`, and in every link to try again. It is
 * the same for all people: any site may open the window, so that nothing in its address may ask who is
 * signed in.
 *
 * @returns `target`: where a sign-in in a pop-up ends, `undefined` for any other. `'not_understood'`
 *   when `mode` is not `popup`, or repeated.
 */
export function readPopupTarget(
  query: URLSearchParams,
  publicOrigin: string,
): { readonly target: string | undefined } | 'not_understood' {
  const mode = singleParameter(query, 'mode');
  if (mode === 'repeated') return 'not_understood';
  if (mode.value === undefined) return { target: undefined };
  return mode.value === 'popup' ? { target: publicOrigin + PATHS.signedIn } : 'not_understood';
}
