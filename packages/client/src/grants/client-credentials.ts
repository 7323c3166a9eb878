/**
 * The client credentials grant: an application on its own behalf.
 *
 * @module
 */

import type { ConfigProblem } from '@sallyport/config';
import { type Result, refuse } from '@sallyport/protocol';
import type { Grant, GrantOptions, TokenRefusal } from '../grant.ts';
import { explainRefusal, readClientSecret } from '../settings/client-secret.ts';
import type { ClientSecretSource } from '../settings/client-settings.ts';
import type { TokenSet } from '../token-set.ts';
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

/** What a wrong secret is answered with; Keycloak says the latter, with 401. */
const SECRET_REFUSALS: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client']);

/**
 * Creates the grant.
 *
 * The secret is read each time. It travels by HTTP Basic; only when the server then says
 * `invalid_client` is it sent once more in the body, because some servers take nothing else. When the server
 * refuses the client, the secret is read once more, and if its file was replaced meanwhile, the request is
 * repeated once with what the file holds now. What the text shows to be wrong stands in the refusal.
 *
 * @see [RFC 6749 section 4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)
 */
export function createClientCredentialsGrant(
  options: ClientCredentialsOptions,
  ports: SecretPorts,
): Grant {
  const { tokenEndpoint, clientId, clientSecret, scopes, audience } = options;
  return { kind: 'client_credentials', isInteractive: false, obtain };

  async function obtain(attempt?: GrantOptions): Promise<Result<TokenSet, TokenRefusal>> {
    const warnings: ConfigProblem[] = [];
    const secret = readClientSecret(clientSecret, (warning) => {
      warnings.push(warning);
      ports.onWarning(warning);
    });
    if (!secret.ok) return secret;
    const first = await present(secret.value, attempt);
    if (first.ok || !SECRET_REFUSALS.has(first.error.error)) return first;
    const warningsAgain: ConfigProblem[] = [];
    const again = readClientSecret(clientSecret, (warning) => warningsAgain.push(warning));
    const isReplaced = again.ok && again.value !== secret.value;
    const last = isReplaced ? await present(again.value, attempt) : first;
    if (last.ok || !SECRET_REFUSALS.has(last.error.error)) return last;
    return refuse(
      isReplaced
        ? explainRefusal(last.error, clientSecret, again.value, warningsAgain)
        : explainRefusal(last.error, clientSecret, secret.value, warnings),
    );
  }

  async function present(
    secret: string,
    attempt: GrantOptions | undefined,
  ): Promise<Result<TokenSet, TokenRefusal>> {
    const request = {
      tokenEndpoint,
      scopes,
      parameters: {
        grant_type: 'client_credentials',
        ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
        ...(audience === '' ? {} : { audience }),
      },
    };
    const byHeader = clientSecretBasic(clientId, secret);
    const first = await requestTokens({ ...request, authentication: byHeader }, ports, attempt);
    if (first.ok || first.error.error !== 'invalid_client') return first;
    const inBody = clientSecretPost(clientId, secret);
    return await requestTokens({ ...request, authentication: inBody }, ports, attempt);
  }
}
