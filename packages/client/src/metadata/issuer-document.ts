/**
 * An issuer's own metadata document, from the issuer itself.
 *
 * @module
 */

import { type FetchLimits, fetchBounded } from './bounded-fetch.ts';
import { isSafeUrl } from './parse-metadata.ts';

/** Members as they were sent, untrusted but for `issuer`, which is the one asked. */
export type IssuerDocument = Readonly<Record<string, unknown>>;

/**
 * Reads the document where OpenID Connect Discovery puts it, then where RFC 8414 does.
 *
 * @returns `undefined` when the issuer serves none that names itself.
 * @throws {ExchangeFailure} When it does not answer.
 *
 * @see [RFC 8414 section 3](https://www.rfc-editor.org/rfc/rfc8414#section-3)
 */
export async function fetchIssuerDocument(
  issuer: string,
  fetch: typeof globalThis.fetch,
  limits?: FetchLimits,
  dangerouslyAllowPlainHttpTo: readonly string[] = [],
): Promise<IssuerDocument | undefined> {
  if (!isSafeUrl(issuer, dangerouslyAllowPlainHttpTo)) return undefined;
  for (const url of listDocuments(issuer)) {
    const init = { headers: { accept: 'application/json' } };
    const { status, text } = await fetchBounded(fetch, url, init, limits);
    const document = status === 200 ? parseRecord(text) : undefined;
    if (document?.['issuer'] === issuer) return document;
  }
  return undefined;
}

function listDocuments(issuer: string): readonly string[] {
  const url = URL.parse(issuer);
  if (url === null) return [];
  const path = url.pathname === '/' ? '' : url.pathname;
  return [
    `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

function parseRecord(text: string): IssuerDocument | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as IssuerDocument)
      : undefined;
  } catch {
    return undefined;
  }
}
