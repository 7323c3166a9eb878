/**
 * Whether an issuer stands by what a platform says of it.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { PlatformMetadata } from '../platform-metadata.ts';
import type { IssuerDocument } from './issuer-document.ts';

const ENDPOINTS = [
  ['authorization_endpoint', 'authorizationEndpoint'],
  ['token_endpoint', 'tokenEndpoint'],
  ['device_authorization_endpoint', 'deviceAuthorizationEndpoint'],
  ['revocation_endpoint', 'revocationEndpoint'],
] as const;

/**
 * Compares the platform's endpoints with the issuer's own.
 *
 * A platform that named a known identity provider's sign-in page and a token endpoint of its own would
 * be sent the code, and could spend it elsewhere (mix-up). So every endpoint that the platform names is
 * the issuer's; and what a person confirms, exchanges and gives back belongs together: the device and
 * the revocation endpoint are on the token endpoint's origin, and the sign-in page is there or on the
 * issuer's, so that an issuer cannot borrow another's page either. Does not decide whether the
 * platform itself may be trusted with a token of this issuer.
 *
 * @param document - The issuer's own, `undefined` when it serves none.
 *
 * @returns What is wrong, completing "the metadata of …".
 *
 * @see [RFC 9700 section 4.4](https://www.rfc-editor.org/rfc/rfc9700#section-4.4)
 */
export function confirmMetadata(
  metadata: PlatformMetadata,
  document: IssuerDocument | undefined,
): Result<undefined, string> {
  if (document === undefined)
    return refuse(
      `cannot be confirmed: its issuer ${metadata.issuer} serves no metadata document; name the token endpoint with admin.tokenUrl`,
    );
  for (const [member, field] of ENDPOINTS) {
    const named = metadata[field];
    if (named !== '' && named !== document[member])
      return refuse(`has a ${member} that is not the one of its issuer ${metadata.issuer}`);
  }
  const origins = new Map(ENDPOINTS.map(([member, field]) => [member, originOf(metadata[field])]));
  const token = origins.get('token_endpoint');
  const page = origins.get('authorization_endpoint');
  const isOwnPage = page === undefined || page === token || page === originOf(metadata.issuer);
  if (!isOwnPage)
    return refuse('has an authorization_endpoint that belongs to another identity provider');
  for (const member of ['device_authorization_endpoint', 'revocation_endpoint'] as const) {
    const origin = origins.get(member);
    if (origin !== undefined && origin !== token)
      return refuse(`has a ${member} that is not where its token_endpoint is`);
  }
  return accept(undefined);
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}
