/**
 * The way out to the issuers of bearer tokens.
 *
 * @module
 */

import { createIdpFetch } from '../issuer/idp-fetch.ts';
import type { IssuerFetch } from './issuer-metadata.ts';

const TIMEOUT_MS = 5_000;
const BODY_MAX_BYTES = 1_048_576;

/** Creates the fetch: 5 s and 1 MiB for an answer, no redirects. */
export function createIssuerFetch(ports: {
  readonly fetch: typeof fetch;
  readonly now: () => number;
}): IssuerFetch {
  return createIdpFetch({ ...ports, timeoutMs: TIMEOUT_MS, bodyMaxBytes: BODY_MAX_BYTES }).fetch;
}
