/**
 * Faults of the group: grants.
 *
 * @module
 */

import { granting, honestClaims, KEYCLOAK, OKTA, refusingAs } from '../fake-token-endpoint.ts';
import { type Fault, openId, service, TOKEN_PATH, withSecretText } from '../fault.ts';
import { IDS, json, page } from '../faulty-plane.ts';

/** In this order in the table. */
export const GRANTS_FAULTS: readonly Fault[] = [
  {
    fault: 'a wrong client secret, at a provider that answers it as an unknown client',
    cause: 'client_or_secret_wrong',
    probe: 'grants.client.1',
    ground: 'running plane',
    make: withSecretText(() => 'not-the-secret-of-the-service-app'),
  },
  {
    fault: 'a wrong client secret of the web app',
    cause: 'client_or_secret_wrong',
    probe: 'grants.web',
    ground: 'running plane',
    make: (plane) => ({
      config: openId({
        clientSecretFile: plane.write('oidc_client_secret', 'not-the-secret-of-the-web-app'),
      }),
    }),
  },
  {
    fault: 'a wrong client secret at Keycloak',
    cause: 'secret_wrong',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set(TOKEN_PATH, refusingAs(KEYCLOAK)(plane));
      return withSecretText(() => 'not-the-secret-of-the-service-app')(plane);
    },
  },
  {
    fault: 'an unknown client ID at Keycloak',
    cause: 'client_unknown',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set(TOKEN_PATH, refusingAs(KEYCLOAK)(plane));
      return { config: service({ clientId: 'no-such-app' }) };
    },
  },
  {
    fault:
      'client_credentials is off for the client at Keycloak, which answers as to a wrong secret',
    cause: 'grant_not_allowed',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set(TOKEN_PATH, refusingAs(KEYCLOAK)(plane));
      return {};
    },
  },
  {
    fault: 'the service app is a public client at Keycloak',
    cause: 'client_is_public',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set(TOKEN_PATH, refusingAs(KEYCLOAK, true)(plane));
      return {};
    },
  },
  {
    fault: 'client_credentials is not allowed for the client',
    cause: 'grant_not_allowed',
    ground: 'running plane',
    make: (plane) => ({
      clients: [
        {
          admin: {
            endpoint: plane.url,
            authType: 'ClientSecret',
            clientId: IDS.web,
            clientSecretLocation: plane.write('client_secret', plane.webSecret),
          },
        },
      ],
    }),
  },
  {
    fault: 'the service app is not in the access policy of the authorization server (Okta)',
    cause: 'not_in_access_policy',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set(TOKEN_PATH, refusingAs(OKTA)(plane));
      return {};
    },
  },
  {
    fault: 'the authorization server has no such scope, and refuses it',
    cause: 'scope_unknown',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set(
        TOKEN_PATH,
        refusingAs({ ...KEYCLOAK, clientCredentials: [400, 'invalid_scope'] })(plane),
      );
      return {};
    },
  },
  {
    fault: 'the authorization server has no such scope, and leaves it out',
    cause: 'token_scope_missing',
    ground: 'running plane',
    make: () => ({ config: service({ scopes: ['nosuch'] }) }),
  },
  {
    fault: 'the authorization server knows no such audience',
    cause: 'audience_unknown',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set(
        TOKEN_PATH,
        refusingAs({ ...OKTA, clientCredentials: [400, 'invalid_target'] })(plane),
      );
      return {};
    },
  },
  {
    fault: 'the redirect address of the native app is not registered',
    cause: 'redirect_not_registered',
    probe: 'grants.native.authorize',
    ground: 'running plane',
    async make(plane) {
      const config = {
        auth: {
          appAuth: {
            thirdPartyConfig: { flyteClient: { redirectUri: 'http://localhost:53594/callback' } },
          },
        },
      };
      await plane.replaceService(config);
      return { config };
    },
  },
  {
    fault: 'the running admin service has the client ID of another application as OIDC_CLIENT_ID',
    cause: 'web_client_id_differs',
    probe: 'grants.web.authorize',
    ground: 'running plane',
    async make(plane) {
      await plane.replaceService(openId({ clientId: IDS.native }));
      return {};
    },
  },
  {
    fault: 'the redirect address of the web app is not registered',
    cause: 'redirect_not_registered',
    probe: 'grants.web.authorize',
    ground: 'running plane',
    make(plane) {
      const target = `${plane.url}/callback/`;
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: IDS.web,
        redirect_uri: target,
        scope: 'openid',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      });
      const location = `${String(plane.document['authorization_endpoint'])}?${query}`;
      plane.front.set(
        '/login',
        page(302, { location, 'set-cookie': 'attempt=1; HttpOnly; SameSite=Lax' }),
      );
      return {};
    },
  },
  {
    fault: 'the native app is not required to use PKCE',
    cause: 'pkce_not_required',
    ground: 'fake endpoint',
    make(plane) {
      const { pathname } = new URL(String(plane.document['authorization_endpoint']));
      plane.idp.set(pathname, (req, res) => {
        const query = new URL(req.url ?? '', plane.issuer).searchParams;
        const back = `${query.get('redirect_uri')}?error=login_required`;
        page(303, { location: back })(req, res, '');
      });
      return {};
    },
  },
  {
    fault: 'the identity provider refuses a parameter of the sign-in',
    cause: 'request_refused',
    ground: 'fake endpoint',
    make(plane) {
      const { pathname } = new URL(String(plane.document['authorization_endpoint']));
      plane.idp.set(pathname, (req, res) => {
        const query = new URL(req.url ?? '', plane.issuer).searchParams;
        const back = `${query.get('redirect_uri')}?error=invalid_request`;
        page(303, { location: back })(req, res, '');
      });
      return {};
    },
  },
  {
    fault: 'the identity provider offers no device codes',
    cause: 'device_grant_not_offered',
    ground: 'fake endpoint',
    make(plane) {
      plane.overMetadata({ device_authorization_endpoint: undefined });
      return {};
    },
  },
  {
    fault: 'device codes are off for the native app',
    cause: 'grant_not_allowed',
    probe: 'grants.device',
    ground: 'fake endpoint',
    make(plane) {
      const { pathname } = new URL(String(plane.document['device_authorization_endpoint']));
      plane.idp.set(pathname, json(400, { error: 'unauthorized_client' }));
      return {};
    },
  },
  {
    fault: 'tokens are of another issuer (Entra: version 1)',
    cause: 'token_issuer_differs',
    ground: 'fake endpoint',
    make: granting((plane) => ({ ...honestClaims(plane), iss: 'https://sts.example/1/' })),
  },
  {
    fault: 'tokens lack the audience of the platform',
    cause: 'audience_missing',
    ground: 'fake endpoint',
    make: granting((plane) => ({ ...honestClaims(plane), aud: 'account' })),
  },
  {
    fault: 'tokens lack the scope all',
    cause: 'token_scope_missing',
    ground: 'fake endpoint',
    make: granting((plane) => ({ ...honestClaims(plane), scope: 'email' })),
  },
  {
    fault: 'tokens are opaque (Auth0 without an audience)',
    cause: 'token_opaque',
    ground: 'fake endpoint',
    make: granting(() => 'an-opaque-token-of-no-form'),
  },
  {
    fault: 'tokens are from the future: the clock of what signs them is ahead',
    cause: 'clock_differs',
    probe: 'grants.client.1.token',
    ground: 'fake endpoint',
    make: granting((plane) => ({
      ...honestClaims(plane),
      iat: Math.floor(Date.now() / 1_000) + 600,
    })),
  },
  {
    fault: 'tokens are signed by a key that is not published',
    cause: 'token_refused',
    ground: 'fake endpoint',
    make: granting(honestClaims),
  },
];
