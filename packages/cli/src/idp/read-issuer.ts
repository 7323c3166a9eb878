/**
 * The metadata of the issuer that a deployment is set up at.
 *
 * @module
 */

import {
  createIssuerFetch,
  fetchIssuerDocument,
  type IssuerDocument,
  listMetadataUrls,
} from '@sallyport/server/issuer';

/**
 * Fetches it. The issuer in it has to be the one asked for, character by character.
 *
 * @throws {SallyportError} `SP_IDP_UNREACHABLE` or `SP_IDP_PROTOCOL`.
 */
export function readIssuer(
  issuer: string,
  send: typeof fetch,
  mayUsePlainHttp: boolean,
): Promise<IssuerDocument> {
  return fetchIssuerDocument(
    issuer,
    listMetadataUrls(issuer, ''),
    createIssuerFetch({ fetch: send }),
    mayUsePlainHttp ? [new URL(issuer).origin] : [],
  );
}
