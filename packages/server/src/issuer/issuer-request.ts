/**
 * The way out to an issuer for its metadata, its keys and its introspection endpoint.
 *
 * @module
 */

import { createIdpFetch } from './idp-fetch.ts';

/** Fetches from an issuer; bounded in time and size, follows no redirect, rejects without an answer. */
export type IssuerFetch = (url: string, init: RequestInit) => Promise<Response>;

const TIMEOUT_MS = 5_000;
const BODY_MAX_BYTES = 1_048_576;

/** Creates the fetch: 5 s and 1 MiB for an answer, no redirects. */
export function createIssuerFetch({
  fetch,
}: {
  readonly fetch: typeof globalThis.fetch;
}): IssuerFetch {
  return createIdpFetch({ fetch, timeoutMs: TIMEOUT_MS, bodyMaxBytes: BODY_MAX_BYTES }).fetch;
}
