/**
 * Schema of `auth.*`: the requirement's "Admin service authentication settings".
 *
 * @module
 */

import { DEFAULT_AUTHORIZATION_HEADER } from '@sallyport/protocol';
import type { AuthConfig, ClientAuthenticationMethod, PushedAuthorization } from '../config.ts';
import { booleanKind, enumKind, listKind } from '../kinds/kind.ts';
import { bearerHeaderKind, domainKind, queryParameterKind } from '../kinds/name.ts';
import {
  clientIdKind,
  orEmpty,
  pathKind,
  scopeKind,
  subjectPrefixKind,
  textKind,
} from '../kinds/text.ts';
import { audienceUriKind, endpointKind, issuerKind, redirectUriKind } from '../kinds/url.ts';
import type { SameSitePolicy } from '../same-site.ts';
import type { SchemaOf } from './setting.ts';

const audience = textKind({ name: 'string', expected: 'an audience' });

/** Schema of `auth`. */
export const AUTH_SCHEMA: SchemaOf<AuthConfig> = {
  grpcAuthorizationHeader: {
    kind: bearerHeaderKind,
    fallback: DEFAULT_AUTHORIZATION_HEADER,
    meaning:
      'Header that carries a bearer token on gRPC; also in the metadata for clients. `authorization` is read beside it, see `bearer.onlyConfiguredHeader`.',
  },
  httpAuthorizationHeader: {
    kind: bearerHeaderKind,
    fallback: DEFAULT_AUTHORIZATION_HEADER,
    meaning: 'Header that carries a bearer token on HTTP.',
  },
  authorizedUris: {
    kind: listKind(audienceUriKind, 'URLs'),
    fallback: [],
    meaning:
      "The admin service's in-cluster addresses: accepted as audiences of bearer tokens beside `publicUrl`. An `aud` is compared character by character, with the port 80 (http) or 443 (https) and the final `/` of an empty path written or left out; `serve --check` prints the spellings. These are not redirect targets, see `redirectOrigins`.",
  },
  separateServiceApps: {
    kind: booleanKind,
    fallback: false,
    meaning:
      'Says that control plane and data plane have a service app each: then nothing warns of an `AUTH_CLIENT_ID` that differs from `INTERNAL_CLIENT_ID`.',
  },
  appAuth: {
    authServerType: {
      kind: enumKind(['External'], {
        Self: 'Sallyport works with an external identity provider and issues no tokens itself',
      }),
      fallback: 'External',
      meaning: 'Who issues tokens. Always the identity provider.',
    },
    externalAuthServer: {
      baseUrl: {
        kind: issuerKind,
        fallback: '',
        fallbackFrom: {
          key: 'auth.userAuth.openId.baseUrl',
          text: 'the value of `auth.userAuth.openId.baseUrl`',
          derive: (issuer) => issuer,
        },
        meaning:
          'Issuer of the bearer tokens that are accepted, exactly as its tokens spell `iss`.',
      },
      allowedAudience: {
        kind: listKind(audience, 'audiences'),
        fallback: [],
        meaning: 'Audiences accepted beside `publicUrl` and `auth.authorizedUris`.',
      },
      metadataUrl: {
        kind: orEmpty(endpointOrPathKind()),
        fallback: '',
        meaning:
          "The authorization server's metadata document, absolute or relative to `baseUrl`; empty asks where RFC 8414 and OpenID Connect Discovery put it.",
      },
    },
    thirdPartyConfig: {
      flyteClient: {
        clientId: {
          kind: clientIdKind,
          fallback: '',
          required: 'with-auth',
          variable: 'CLI_CLIENT_ID',
          meaning: 'Client ID of the native app: what SDK and command line sign in with.',
        },
        redirectUri: {
          kind: redirectUriKind,
          fallback: 'http://localhost:53593/callback',
          meaning: "The native app's redirect URI, as registered.",
        },
        scopes: {
          kind: listKind(scopeKind, 'scopes'),
          fallback: ['all'],
          meaning: 'Scopes the SDK and the command line request.',
        },
        audience: {
          kind: orEmpty(audience),
          fallback: '',
          meaning: 'Audience the SDK and the command line request; empty requests none.',
        },
      },
    },
  },
  userAuth: {
    openId: {
      baseUrl: {
        kind: issuerKind,
        fallback: '',
        required: 'with-auth',
        variable: 'OIDC_BASE_URL',
        meaning: 'Issuer that people sign in at, exactly as its tokens spell `iss`.',
      },
      clientId: {
        kind: clientIdKind,
        fallback: '',
        required: 'with-auth',
        variable: 'OIDC_CLIENT_ID',
        meaning: 'Client ID of the web app.',
      },
      clientAuthentication: {
        kind: enumKind<ClientAuthenticationMethod>(['client_secret', 'private_key_jwt']),
        fallback: 'client_secret',
        meaning:
          'How the web app proves itself to the identity provider: by the secret in `clientSecretFile`, or by assertions signed with the key in `privateKeyLocation` (RFC 7523), which then needs no secret.',
      },
      clientSecretFile: {
        kind: pathKind,
        fallback: '/etc/secrets/oidc_client_secret',
        variable: 'OIDC_CLIENT_SECRET_FILE',
        meaning:
          "File that holds the web app's client secret: key `oidc_client_secret` of the secret `core-admin-secrets`. Read again when it changes.",
      },
      privateKeyLocation: {
        kind: orEmpty(pathKind),
        fallback: '',
        meaning:
          "File that holds the web app's private key, as PEM (PKCS#8) or JWK: RSA of 2048 bits or more, P-256 or Ed25519. Needed with `private_key_jwt`, and only then. Read again when it changes; the public half is served at `/auth/jwks`.",
      },
      pushedAuthorization: {
        kind: enumKind<PushedAuthorization>(['auto', 'always', 'never']),
        fallback: 'auto',
        meaning:
          'Whether the parameters of a sign-in go to the identity provider directly instead of through the browser (RFC 9126). `auto`: when its metadata requires that.',
      },
      scopes: {
        kind: listKind(scopeKind, 'scopes'),
        fallback: ['profile', 'openid', 'offline_access'],
        meaning:
          'Scopes a sign-in requests. Must hold `openid`; without `offline_access` most providers give no refresh token, so that sessions cannot be renewed and end sooner; Keycloak gives one.',
      },
    },
    cookieSetting: {
      sameSitePolicy: {
        kind: enumKind<SameSitePolicy>(['LaxMode', 'DefaultMode', 'NoneMode'], {
          StrictMode:
            'with StrictMode the browser withholds the cookie on the redirect back from the identity provider, and /callback would loop',
        }),
        fallback: 'LaxMode',
        meaning:
          'SameSite attribute of the session cookie. `LaxMode`: `Lax`. `DefaultMode`: no attribute, the browser decides. `NoneMode`: `None`, needs an https `publicUrl` and gives a warning.',
      },
      domain: {
        kind: orEmpty(domainKind),
        fallback: '',
        meaning:
          'Domain of the session cookie: empty keeps it to the host of `publicUrl`; else that host or a parent domain of it, which gives a warning because every host below it then receives the cookie. A public suffix such as `co.uk` is not recognised here: the browser refuses the cookie.',
      },
    },
    subjectPrefix: {
      kind: orEmpty(subjectPrefixKind),
      fallback: '',
      fallbackFrom: {
        key: 'bearer.subjectPrefix',
        text: 'the value of `bearer.subjectPrefix`',
        derive: (prefix) => prefix,
      },
      meaning:
        'Text that stands before the subjects of people who sign in, where backends see them. Needed, and another than `bearer.subjectPrefix`, when `auth.appAuth.externalAuthServer.baseUrl` is another issuer.',
    },
    idpQueryParameter: {
      kind: queryParameterKind,
      fallback: 'idp',
      meaning:
        'Query parameter of `/login` that selects an identity provider; it is passed on to the authorization endpoint.',
    },
    redirectUrl: {
      kind: textKind({ name: 'path or URL', expected: 'a path or URL to end a sign-in on' }),
      fallback: '/',
      meaning:
        'Where a sign-in without `redirect_url` ends: a path of `publicUrl`, or a URL of an origin in `redirectOrigins`.',
    },
  },
};

/** An endpoint's URL, or a path that `loadConfig` resolves against the issuer. */
function endpointOrPathKind(): typeof endpointKind {
  const relative = /^\/?(?!\/)[\w.~-][\w.~/-]*$/;
  return {
    ...endpointKind,
    name: 'URL or path',
    parse: (value) =>
      typeof value === 'string' && relative.test(value)
        ? { ok: true, value }
        : endpointKind.parse(value),
  };
}
