/**
 * Access tokens of the test's IdP, honest and otherwise.
 *
 * @module
 */

import type { FakeIdp } from '@sallyport/testing/idp/fake-idp';
import { rs256, type Signer, writeJws } from './forge.ts';

/** Name of the bearer header the service is configured with by default. */
export const BEARER_HEADER = 'core-authorization';

/** What an honest access token's header says. */
const HONEST_HEADER = { alg: 'RS256', kid: 'k1', typ: 'at+jwt' } as const;

/** Claims of an honest access token of a person; `audience` is the platform's public URL. */
export function accessClaims(
  idp: FakeIdp,
  audience: string,
  now: number = Math.floor(Date.now() / 1_000),
): Readonly<Record<string, unknown>> {
  return {
    iss: idp.issuer,
    sub: 'ada',
    aud: audience,
    client_id: 'cli-client',
    scope: 'all',
    iat: now,
    exp: now + 300,
  };
}

/**
 * Writes an access token.
 *
 * @param claims - Put over the honest ones; `undefined` takes one out. As text it is the whole payload.
 * @param header - Put over the honest one. As text it is the whole header.
 */
export function accessToken(
  idp: FakeIdp,
  audience: string,
  claims: object | string = {},
  header: object | string = {},
  sign: Signer = rs256(idp.signingKey),
): Promise<string> {
  return writeJws(
    typeof header === 'string' ? header : { ...HONEST_HEADER, ...header },
    typeof claims === 'string' ? claims : { ...accessClaims(idp, audience), ...claims },
    sign,
  );
}
