/**
 * The type of an access token.
 *
 * @module
 */

import type { TokenEndpointResponse } from 'openid-client';

/**
 * Whether an answer's access token is one that we know how to use. The library refuses an answer without a
 * type, writes it in lower case, and takes `dpop` as well, which needs a proof that this service does not make.
 *
 * @see [RFC 6749 section 7.1](https://www.rfc-editor.org/rfc/rfc6749#section-7.1)
 */
export function findTokenTypeProblem({
  token_type: type,
}: Pick<TokenEndpointResponse, 'token_type'>): 'token_type' | undefined {
  return type === 'bearer' ? undefined : 'token_type';
}
