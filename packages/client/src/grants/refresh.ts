/**
 * The refresh token grant of a public client.
 *
 * @module
 */

import { accept, type Result } from '@sallyport/protocol';
import type { GrantOptions, TokenRefusal } from '../grant.ts';
import type { TokenSet } from '../token-set.ts';
import { publicClient } from './client-authentication.ts';
import type { GrantPorts } from './ports.ts';
import { requestTokens } from './token-endpoint.ts';

/** What is refreshed where. */
export interface RefreshRequest {
  readonly tokenEndpoint: string;
  readonly clientId: string;
  /** What the tokens had; a server that changes nothing need not say so. */
  readonly scopes: readonly string[];
  readonly refreshToken: string;
}

/**
 * Exchanges a refresh token. A server that rotates gives a new one, which replaces it; otherwise the
 * same one stays good.
 *
 * @returns As `Grant.refresh`: `invalid_grant` means that this refresh token is worth nothing any more.
 * @throws {SallyportError} `SP_IDP_UNREACHABLE`, `SP_IDP_PROTOCOL`.
 *
 * @see [RFC 6749 section 6](https://www.rfc-editor.org/rfc/rfc6749#section-6)
 */
export async function refreshTokens(
  { tokenEndpoint, clientId, scopes, refreshToken }: RefreshRequest,
  ports: Pick<GrantPorts, 'fetch' | 'now'>,
  options: GrantOptions | undefined,
): Promise<Result<TokenSet, TokenRefusal>> {
  const refreshed = await requestTokens(
    {
      tokenEndpoint,
      authentication: publicClient(clientId),
      parameters: { grant_type: 'refresh_token', refresh_token: refreshToken },
      scopes,
    },
    ports,
    options,
  );
  if (!refreshed.ok) return refreshed;
  return accept({
    ...refreshed.value,
    refreshToken: refreshed.value.refreshToken ?? refreshToken,
  });
}
