/**
 * Causes in what the applications may do at the identity provider.
 *
 * @module
 */

/** By name, as `Cause` has them. */
export const GRANT_CAUSES = {
  secret_wrong: {
    group: 'grants',
    seen: 'The identity provider refuses the application.',
    found: 'Asks for a token, then compares the answers to a made-up secret and a made-up client.',
    cure: 'Write the secret that the identity provider has.',
  },
  client_unknown: {
    group: 'grants',
    seen: 'The identity provider refuses the application.',
    found:
      'As above: the answer is that to a made-up client, and differs from that to a known one.',
    cure: 'Correct the client ID, or register the application.',
  },
  client_or_secret_wrong: {
    group: 'grants',
    seen: 'The identity provider refuses the application.',
    found: 'As above, where the provider answers both alike (Okta, the embedded one).',
    cure: 'Compare client ID and secret.',
  },
  client_is_public: {
    group: 'grants',
    seen: 'The identity provider refuses `client_credentials`.',
    found: 'A made-up secret makes no difference, and the client is served.',
    cure: 'Make it a confidential client.',
  },
  grant_not_allowed: {
    group: 'grants',
    seen: 'The identity provider refuses one way of obtaining tokens.',
    found: 'The application proves itself, and the grant is refused.',
    cure: 'Allow the grant type for the application and in the rule of the authorization server.',
  },
  device_grant_not_offered: {
    group: 'grants',
    seen: '`sallyport login --flow device` fails.',
    found: 'Reads the metadata.',
    cure: 'Switch the device grant on.',
  },
  not_in_access_policy: {
    group: 'grants',
    seen: 'Operator and propeller cannot authenticate; `access_denied`.',
    found: 'The token endpoint answers `access_denied` to the application.',
    cure: 'Add the application to the access policy of the authorization server.',
  },
  scope_unknown: {
    group: 'grants',
    seen: 'No tokens: `invalid_scope`.',
    found: 'Asks for a token with the configured scopes.',
    cure: 'Add the scope `all` to the authorization server.',
  },
  audience_unknown: {
    group: 'grants',
    seen: 'No tokens: `invalid_target`.',
    found: 'Asks for a token with the configured audience.',
    cure: "Register the platform's URL as an API.",
  },
  request_refused: {
    group: 'grants',
    seen: 'No tokens, or no sign-in.',
    found: 'The identity provider refuses the request as such.',
    cure: 'Compare the settings of the application.',
  },
  token_endpoint_wrong: {
    group: 'grants',
    seen: 'Internal services get no token.',
    found: 'What answers at the token endpoint speaks no OAuth.',
    cure: "Set `AUTH_TOKEN_URL` to the `token_endpoint` of the issuer's metadata.",
  },
  token_url_differs: {
    group: 'grants',
    seen: 'Internal services get tokens that the platform refuses, or none.',
    found: "Compares `AUTH_TOKEN_URL` with the issuer's metadata.",
    cure: 'Set `AUTH_TOKEN_URL` to the `token_endpoint` of the metadata.',
  },
  redirect_not_registered: {
    group: 'grants',
    seen: 'A page of the identity provider about the redirect address, and no way back.',
    found:
      'Asks the authorization endpoint with `prompt=none`: it does not come back to the redirect address.',
    cure: 'Register exactly the address that is named.',
  },
  web_client_id_differs: {
    group: 'grants',
    seen: 'Sign-ins fail, although the configuration that is looked at is right.',
    found:
      'Compares the `client_id` that the running `/login` sends people with and the configured one.',
    cure: 'Correct `OIDC_CLIENT_ID`, and restart the admin service.',
  },
  pkce_not_required: {
    group: 'grants',
    seen: 'Nothing: a sign-in without PKCE is accepted.',
    found: 'Asks the authorization endpoint without a challenge.',
    cure: 'Require PKCE for the native app.',
  },
  token_issuer_differs: {
    group: 'grants',
    seen: '401 with `unknown_issuer`.',
    found: 'Reads the `iss` of a token that a service obtained.',
    cure: 'Set the issuer to exactly that.',
  },
  audience_missing: {
    group: 'grants',
    seen: '401 with `bearer_not_accepted`.',
    found: 'Reads the `aud` of a token that a service obtained.',
    cure: 'Have `publicUrl` put into `aud`, or allow the audience that is there.',
  },
  token_scope_missing: {
    group: 'grants',
    seen: '403 with `insufficient_scope`.',
    found: 'Reads the scopes of a token that a service obtained.',
    cure: 'Request the scope `all`, and have it granted.',
  },
  token_opaque: {
    group: 'grants',
    seen: '401 with `bearer_not_accepted`.',
    found: 'The token is no JWT.',
    cure: 'Have JWTs issued, or configure `bearer.introspection`.',
  },
  token_refused: {
    group: 'grants',
    seen: 'Internal services get 401.',
    found: 'Shows the token to `/me`.',
    cure: 'Look for `bearer_refused` in the audit lines.',
  },
} as const;
