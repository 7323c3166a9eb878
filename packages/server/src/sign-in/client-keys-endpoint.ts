/**
 * `GET /auth/jwks`: the web app's public keys.
 *
 * @module
 */

import { type ClientKeys, KEYS_MAX_AGE_SECONDS } from '../issuer/relying-party/client-keys.ts';

/**
 * Creates `GET /auth/jwks`: the published keys, for the IdP to fetch (RFC 7517 section 5). Needs no
 * credential; holds public halves only.
 */
export function createClientKeysEndpoint(keys: ClientKeys): () => Response {
  return () =>
    new Response(JSON.stringify({ keys: keys.published() }), {
      headers: {
        'content-type': 'application/jwk-set+json',
        'cache-control': `public, max-age=${KEYS_MAX_AGE_SECONDS}`,
        'x-content-type-options': 'nosniff',
      },
    });
}
