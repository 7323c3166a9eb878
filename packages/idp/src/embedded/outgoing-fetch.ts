/**
 * The way out of the embedded IdP: to the applications that are registered, and nowhere else.
 *
 * @module
 */

import type { IdpApplication } from '../spec/idp-spec.ts';

/**
 * Creates the fetch. It admits a GET for an application's keys and a POST of a logout token to one,
 * each at the registered URL byte for byte.
 *
 * What the library adds against private addresses is left out: these are on the loopback.
 *
 * @param reach - Makes the admitted requests.
 */
export function createOutgoingFetch(
  applications: readonly IdpApplication[],
  reach: typeof fetch,
): (url: string, init: RequestInit) => Promise<Response> {
  const keys = new Set(applications.map(({ jwksUri }) => jwksUri));
  const logouts = new Set(applications.map(({ backchannelLogoutUri }) => backchannelLogoutUri));

  return async (url, { method = 'GET', headers, body, signal }) => {
    const isAdmitted = method === 'POST' ? logouts.has(url) : method === 'GET' && keys.has(url);
    if (!isAdmitted) throw new Error('the embedded IdP makes no such request');
    return reach(url, {
      method,
      redirect: 'error',
      headers: new Headers(headers),
      signal: signal ?? null,
      ...(method === 'POST' ? { body: body ?? null } : {}),
    });
  };
}
