/**
 * What to do about an error.
 *
 * @module
 */

/** By error code of OAuth (RFC 6749, RFC 8628, OpenID Connect) and of our own. */
const HINTS: ReadonlyMap<string, string> = new Map([
  [
    'access_denied',
    'The sign-in was declined, or an access policy of the identity provider does not admit this account or client.',
  ],
  ['authorization_pending', 'The sign-in was not finished.'],
  ['consent_required', 'Register the native app as trusted, so that it needs no consent screen.'],
  ['expired_token', 'The code was not entered in time. Start again.'],
  ['interaction_required', 'Start again and finish the pages of the identity provider.'],
  [
    'invalid_client',
    'Compare client ID and client secret with those registered at the identity provider; AUTH_CLIENT_ID (data plane) has to equal INTERNAL_CLIENT_ID (control plane).',
  ],
  ['invalid_grant', 'It was used before, has expired or was revoked. Sign in again.'],
  [
    'invalid_request',
    'The identity provider wants something that was not sent: look at the settings of the client there.',
  ],
  [
    'invalid_scope',
    'Add the scope to the authorization server (usually "all"), or name others in admin.scopes.',
  ],
  ['invalid_target', 'The audience is unknown to the identity provider: compare admin.audience.'],
  ['login_cancelled', ''],
  ['login_required', 'Sign in again.'],
  ['login_timed_out', ''],
  ['server_error', 'Try again in a moment.'],
  ['temporarily_unavailable', 'Try again in a moment.'],
  [
    'unauthorized_client',
    'Allow the grant type for this client at the identity provider; some providers say this for a wrong client secret.',
  ],
  ['unsupported_grant_type', 'Allow the grant type at the authorization server.'],
  ['unsupported_response_type', 'Allow the authorization code grant for the native app.'],
]);

/** One sentence; empty when there is nothing to say. */
export function hintFor(error: string): string {
  return HINTS.get(error) ?? '';
}
