/**
 * The request for an issuer's metadata document.
 *
 * @module
 */

import { mayConnect } from '@sallyport/config';
import { SallyportError } from '@sallyport/protocol';
import type { IssuerFetch } from '../issuer-request.ts';
import { type IssuerDocument, parseIssuerDocument } from './authorization-server-document.ts';
import { IssuerMismatch } from './issuer-mismatch.ts';

const NOT_FOUND = 404;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/**
 * Lists where an issuer's metadata may be, in the order to ask.
 *
 * @param metadataUrl - From configuration; empty for the two registered places. The first of these, written out, means the
 *   same, so that its document is fetched once for all parts of the service.
 *
 * @see [OIDC Discovery 1.0 section 4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig) appended to the issuer
 * @see [RFC 8414 section 3](https://www.rfc-editor.org/rfc/rfc8414#section-3) put between host and path
 */
export function listMetadataUrls(issuer: string, metadataUrl: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const usual = `${origin}${path}/.well-known/openid-configuration`;
  if (metadataUrl !== '' && new URL(metadataUrl).href !== usual) return [metadataUrl];
  return [usual, `${origin}/.well-known/oauth-authorization-server${path}`];
}

/**
 * Fetches the document from the first of these places that has one, and reads it.
 *
 * @param dangerouslyAllowPlainHttpTo - The setting of that name: elsewhere but on the loopback no place on
 *   plain http is asked.
 *
 * @throws {SallyportError} `SP_IDP_UNREACHABLE` when there is no answer, or a server that says of itself that
 *   it is broken; `SP_IDP_PROTOCOL` for an answer that is not to be believed.
 */
export async function fetchIssuerDocument(
  issuer: string,
  urls: readonly string[],
  fetch: IssuerFetch,
  dangerouslyAllowPlainHttpTo: readonly string[] = [],
): Promise<IssuerDocument> {
  let response: Response | undefined;
  let asked = '';
  for (const url of urls) {
    if (!mayConnect(new URL(url), dangerouslyAllowPlainHttpTo))
      throw misbehaved('its metadata would come by plain http, which is not allowed there');
    asked ||= url;
    response = await fetch(url, { headers: { accept: 'application/json' } });
    // Only a server that says that there is nothing here is asked for the other place.
    if (response.status !== NOT_FOUND) break;
  }
  if (response?.status !== 200) throw answeredWith(response?.status ?? NOT_FOUND, asked);
  const parsed = parseIssuerDocument(await response.text(), issuer, dangerouslyAllowPlainHttpTo);
  if (!parsed.ok && parsed.error.member === 'issuer')
    throw new IssuerMismatch(issuer, parsed.error.found);
  if (!parsed.ok)
    throw misbehaved(`${parsed.error.member} of its metadata: ${parsed.error.problem}`);
  return parsed.value;
}

/** An answer that is not to be believed. */
export function misbehaved(detail: string): SallyportError {
  return new SallyportError('SP_IDP_PROTOCOL', { component: 'idp', detail });
}

function answeredWith(status: number, url: string): SallyportError {
  const detail = `its metadata at ${url} was answered with status ${status}${status === NOT_FOUND ? ': compare the issuer that is configured with the one of the identity provider' : ''}`;
  return status === TOO_MANY_REQUESTS || status >= SERVER_ERROR
    ? new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp', detail, retryAfterSeconds: 5 })
    : misbehaved(detail);
}
