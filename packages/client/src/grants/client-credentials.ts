/**
 * The client credentials grant: an application on its own behalf.
 *
 * @module
 */

import type { Grant } from '../grant.ts';
import { readClientSecret } from '../settings/client-secret.ts';
import type { ClientSecretSource } from '../settings/client-settings.ts';
import { clientSecretBasic, clientSecretPost } from './client-authentication.ts';
import type { SecretPorts } from './ports.ts';
import { requestTokens } from './token-endpoint.ts';

/** What the grant is about. */
export interface ClientCredentialsOptions {
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret: ClientSecretSource;
  readonly scopes: readonly string[];
  /** Empty: none is asked for. */
  readonly audience: string;
}

/**
 * Creates the grant.
 *
 * The secret is read each time. It travels by HTTP Basic; only when the server then says
 * `invalid_client` is it sent once more in the body, because some servers take nothing else.
 *
 * @see [RFC 6749 section 4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)
 */
export function createClientCredentialsGrant(
  options: ClientCredentialsOptions,
  ports: SecretPorts,
): Grant {
  const { tokenEndpoint, clientId, clientSecret, scopes, audience } = options;
  return {
    kind: 'client_credentials',
    isInteractive: false,
    async obtain(attempt) {
      const secret = readClientSecret(clientSecret, ports.onWarning);
      if (!secret.ok) return secret;
      const request = {
        tokenEndpoint,
        scopes,
        parameters: {
          grant_type: 'client_credentials',
          ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
          ...(audience === '' ? {} : { audience }),
        },
      };
      const byHeader = clientSecretBasic(clientId, secret.value);
      const first = await requestTokens({ ...request, authentication: byHeader }, ports, attempt);
      if (first.ok || first.error.error !== 'invalid_client') return first;
      const inBody = clientSecretPost(clientId, secret.value);
      return await requestTokens({ ...request, authentication: inBody }, ports, attempt);
    },
  };
}
