/**
 * How the embedded IdP reaches the plane it is part of.
 *
 * @module
 */

import { readFileSync } from 'node:fs';

/**
 * Creates a fetch for requests to the public URL: over TLS it trusts only the plane's own authority.
 *
 * @param caFile - The authority's certificate, as PEM.
 * @returns Node's own, where the public URL is plain http.
 */
export async function createPlaneFetch(publicUrl: string, caFile: string): Promise<typeof fetch> {
  if (!publicUrl.startsWith('https:')) return fetch;
  // Node's own takes no authority for some of its requests alone. Loaded only for this.
  const undici = await import('undici');
  const dispatcher = new undici.Agent({ connect: { ca: readFileSync(caFile, 'utf8') } });
  const trusting = (input: string | URL, init: object): Promise<unknown> =>
    undici.fetch(input, { ...init, dispatcher });
  return ((input: string | URL, { headers, ...init }: RequestInit = {}) =>
    trusting(input, {
      ...init,
      headers: Object.fromEntries(new Headers(headers)),
    })) as typeof fetch;
}
