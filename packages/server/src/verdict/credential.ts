/**
 * Reading the credential a request carries.
 *
 * @module
 */

import { readSessionValues } from '../session/session-cookie.ts';
import type { CheckRequest } from './check-request.ts';

/** What a caller showed. A bearer decides alone: a cookie beside it counts for nothing. */
export type Credential =
  | { readonly kind: 'none' }
  /** Several when a sibling domain or path planted a second one; each is tried, none is joined. */
  | { readonly kind: 'session'; readonly values: readonly string[] }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'ambiguous' };

/** Where credentials are looked for; fixed at start. */
export interface CredentialSettings {
  /** `undefined` where there are no sessions: cookies then count for nothing. */
  readonly sessionCookieName: string | undefined;
  /** Names read for a bearer on each transport, lower case, the configured one first. */
  readonly bearerHeaders: { readonly http: readonly string[]; readonly grpc: readonly string[] };
}

/** For a trimmed value: one that had to look for trailing blanks itself would take quadratic time. */
const BEARER = /^bearer +(\S.*)$/i;
const NONE: Credential = { kind: 'none' };

/**
 * Selects the bearer header names of both transports.
 *
 * `authorization` is read beside the configured name, because released clients send it, unless
 * `bearer.onlyConfiguredHeader` is set.
 */
export function selectBearerHeaders(settings: {
  readonly httpAuthorizationHeader: string;
  readonly grpcAuthorizationHeader: string;
  readonly onlyConfiguredHeader: boolean;
}): CredentialSettings['bearerHeaders'] {
  const names = (configured: string) =>
    settings.onlyConfiguredHeader ? [configured] : [...new Set([configured, 'authorization'])];
  return {
    http: names(settings.httpAuthorizationHeader),
    grpc: names(settings.grpcAuthorizationHeader),
  };
}

/**
 * Reads the credential of a request.
 *
 * An empty value and a scheme other than Bearer count as absent. The same header twice, or two
 * different bearers in two headers, is ambiguous: whichever we chose, a component behind us might
 * choose the other.
 */
export function readCredential(request: CheckRequest, settings: CredentialSettings): Credential {
  let token: string | undefined;
  for (const name of settings.bearerHeaders[request.transport]) {
    if (request.headers[name] === undefined) continue;
    const values = valuesOf(request.rawHeaders, name);
    if (values.length > 1) return { kind: 'ambiguous' };
    const found = BEARER.exec(values[0] ?? '')?.[1];
    if (found === undefined) continue;
    if (token !== undefined && token !== found) return { kind: 'ambiguous' };
    token = found;
  }
  if (token !== undefined) return { kind: 'bearer', token };

  if (settings.sessionCookieName === undefined) return NONE;
  const values = readSessionValues(request.headers.cookie, settings.sessionCookieName);
  return values.length === 0 ? NONE : { kind: 'session', values };
}

/** Node folds repeated headers together or drops the later ones; the flat list still shows them. */
function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name)
      values.push((rawHeaders[index + 1] ?? '').trim());
  }
  return values.filter((value, index) => value !== '' || index > 0);
}
