/**
 * What the sign-in endpoints see of a request, and how they answer.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import { PATHS } from '@sallyport/protocol';
import { toProblemJson } from '../answer/problem.ts';
import {
  buildFailurePage,
  type FailureDetails,
  type FailureReason,
  failureStatus,
} from '../page/failure-page.ts';
import type { Page } from '../page/page.ts';

/** One request to `/login`, `/callback` or `/logout`. Untrusted but for `address` and `requestId`. */
export interface SignInRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly address: string;
  readonly requestId: string;
}

/** The headers every answer of these endpoints carries: they are one person's, and lead away. */
const COMMON_HEADERS: readonly (readonly [string, string])[] = [
  ['cache-control', 'no-store'],
  ['x-accel-expires', '0'],
  ['referrer-policy', 'no-referrer'],
];

/**
 * The one value of a parameter.
 *
 * @returns `undefined` when absent, `'repeated'` as a refusal when it stands twice: two readers could
 *   pick different ones.
 */
export function singleParameter(
  query: URLSearchParams,
  name: string,
): { readonly value: string | undefined } | 'repeated' {
  const values = query.getAll(name);
  return values.length > 1 ? 'repeated' : { value: values[0] };
}

/** Sends the browser on, with cookies to set. 303 after a POST, so that it is not repeated elsewhere. */
export function redirectTo(
  location: string,
  setCookies: readonly string[],
  status: 302 | 303 = 302,
): Response {
  const headers = new Headers([...COMMON_HEADERS].map(([name, value]) => [name, value]));
  headers.set('location', location);
  for (const cookie of setCookies) headers.append('set-cookie', cookie);
  return new Response(null, { status, headers });
}

/** Shows a page. */
export function showPage(page: Page, status: number, setCookies: readonly string[] = []): Response {
  const headers = new Headers(page.headers.map(([name, value]) => [name, value]));
  for (const cookie of setCookies) headers.append('set-cookie', cookie);
  return new Response(page.body, { status, headers });
}

/** Shows the page of a failure. */
export function showFailure(
  reason: FailureReason,
  details: FailureDetails,
  options: { readonly setCookies?: readonly string[]; readonly retryAfterSeconds?: number } = {},
): Response {
  const response = showPage(
    buildFailurePage(reason, details),
    failureStatus(reason),
    options.setCookies,
  );
  if (options.retryAfterSeconds !== undefined)
    response.headers.set('retry-after', String(options.retryAfterSeconds));
  return response;
}

/** Answers a method an endpoint does not have. */
export function refuseMethod(allowed: string): Response {
  return new Response(null, {
    status: 405,
    headers: [['allow', allowed], ...COMMON_HEADERS.map(([n, v]): [string, string] => [n, v])],
  });
}

/**
 * Answers what no person looks at: it could not show the IdP's page. Sets nothing, and starts nothing.
 *
 * @param purpose - What a person does at the address, for the title.
 */
export function refuseBackground(
  { requestId }: Pick<SignInRequest, 'requestId'>,
  publicOrigin: string,
  purpose: 'sign in' | 'sign out' = 'sign in',
): Response {
  const { status, headers, body } = toProblemJson({
    status: 401,
    reason: 'no_credential',
    title: `Open this address in a browser window to ${purpose}`,
    requestId,
    loginUrl: publicOrigin + PATHS.login,
    retryAfterSeconds: undefined,
    bearerShown: false,
  });
  return new Response(body, { status, headers: headers.map(([name, value]) => [name, value]) });
}
