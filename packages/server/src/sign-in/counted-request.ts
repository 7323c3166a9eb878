/**
 * Which requests take a turn of the budget that holds back clients faster than a person.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { isFramed, isSubresource } from '../answer/caller.ts';
import type { Attempts } from './attempt.ts';
import type { SignInRequest } from './sign-in-request.ts';

/**
 * Whether a request can become a sign-in or a sign-out. What cannot is made by pages without a person, as
 * often as they like: were it counted, any page could use up its visitor's turns.
 *
 * A sign-in fills a window, or a frame of a page of ours. Its last step comes into that frame from another
 * site; the attempt's cookie, which another site's frame does not bring, distinguishes the two. A request
 * that says nothing of itself counts: it is an old browser's or a program's. So does what a page of ours
 * posts. Whatever does not count must be answered without reading the store or asking the IdP.
 */
export function isCounted(
  path: string,
  { method, headers }: Pick<SignInRequest, 'method' | 'headers'>,
  {
    publicOrigin,
    attempts,
  }: { readonly publicOrigin: string; readonly attempts: Pick<Attempts, 'hasAny'> },
): boolean {
  if (method === 'POST' && headers.origin === publicOrigin) return true;
  if (isSubresource(headers)) return false;
  if (!isFramed(headers)) return true;
  return path === PATHS.callback
    ? attempts.hasAny(headers.cookie)
    : headers['sec-fetch-site'] === 'same-origin';
}
