/**
 * The revocation request for a session's refresh token.
 *
 * @module
 */

import * as oidc from 'openid-client';
import type { Schedule } from '../../time/schedule.ts';
import { isIdpUnreachable } from './exchange-refusal.ts';

const REVOCATION_TIMEOUT_MS = 3_000;

/**
 * Revokes a refresh token. Never rejects; resolves after three seconds at the latest.
 *
 * @returns Whether the IdP could be reached, as far as that was tried: `true` where it has no revocation endpoint,
 *   and where it has not answered in time.
 *
 * @see [RFC 7009 section 2.1](https://www.rfc-editor.org/rfc/rfc7009#section-2.1)
 */
export async function revokeRefreshToken(
  configuration: oidc.Configuration | undefined,
  refreshToken: string,
  { schedule, onFailure }: { schedule: Schedule; onFailure: (cause: unknown) => void },
): Promise<boolean> {
  if (configuration?.serverMetadata().revocation_endpoint === undefined) return true;
  const { promise: timeUp, resolve } = Promise.withResolvers<boolean>();
  const cancel = schedule(REVOCATION_TIMEOUT_MS, () => resolve(true));
  const revoked = oidc
    .tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' })
    .then(
      () => true,
      (cause: unknown) => {
        onFailure(cause);
        return !isIdpUnreachable(cause);
      },
    );
  const isReachable = await Promise.race([revoked, timeUp]);
  cancel();
  return isReachable;
}
