/**
 * Schema of the blocks that internal services, pods and clients read; `serve` checks them only.
 *
 * @module
 */

import { DEFAULT_AUTHORIZATION_HEADER } from '@sallyport/protocol';
import type { Config } from '../config.ts';
import { booleanKind, enumKind, listKind } from '../kinds/kind.ts';
import { bearerHeaderKind, labelNameKind, secretNameKind } from '../kinds/name.ts';
import { clientIdKind, durationKind, pathKind, scopeKind, secretKind } from '../kinds/text.ts';
import { endpointKind } from '../kinds/url.ts';
import { SecretText } from '../secret-text.ts';
import { ADMIN_SCHEMA } from './admin-client.ts';
import type { SchemaOf, Setting } from './setting.ts';

const scopes: Setting<readonly string[]> = {
  kind: listKind(scopeKind, 'scopes'),
  fallback: ['all'],
  meaning:
    'Scopes of the token. Left out together with `tokenUrl`, as on the data plane, those that the platform names.',
};

const bearerHeader: Setting<string> = {
  kind: bearerHeaderKind,
  fallback: DEFAULT_AUTHORIZATION_HEADER,
  fallbackFrom: {
    key: 'auth.grpcAuthorizationHeader',
    text: 'the value of `auth.grpcAuthorizationHeader`',
    derive: (name) => name,
  },
  meaning: 'Header the token is sent in; must be one the admin service reads.',
};

const serviceClientId: Setting<string> = {
  kind: clientIdKind,
  fallback: '',
  variable: 'INTERNAL_CLIENT_ID',
  meaning: 'Client ID of the service app.',
};

const tokenUrl: Setting<string> = {
  kind: endpointKind,
  fallback: '',
  variable: 'AUTH_TOKEN_URL',
  meaning: 'Token endpoint of the identity provider.',
};

/** Schema of the blocks that other commands read. */
export const CLIENTS_SCHEMA: SchemaOf<
  Pick<Config, 'admin' | 'executions' | 'secrets' | 'union' | 'unionAuth'>
> = {
  union: {
    auth: {
      enable: {
        kind: booleanKind,
        fallback: true,
        meaning: 'Whether internal services attach a token; without it they receive 401.',
      },
      type: {
        kind: enumKind(['ClientSecret']),
        fallback: 'ClientSecret',
        meaning: 'How a service proves who it is.',
      },
      clientId: { ...serviceClientId, required: 'with-block' },
      clientSecretLocation: {
        kind: pathKind,
        fallback: '/etc/secrets/union/client_secret',
        meaning:
          "File that holds the service app's client secret. On the data plane it is `/etc/union/secret/client_secret`.",
      },
      tokenUrl: {
        ...tokenUrl,
        meaning: 'Token endpoint of the identity provider; empty asks the admin service.',
      },
      authorizationMetadataKey: bearerHeader,
      scopes,
      tokenRefreshWindow: {
        kind: durationKind('0s', '24h'),
        fallback: 300_000,
        meaning: 'How long before its end a token is replaced.',
      },
    },
  },
  admin: ADMIN_SCHEMA,
  executions: {
    app: {
      adminClient: {
        connection: {
          authorizationHeader: bearerHeader,
          clientId: { ...serviceClientId, required: 'with-block' },
          clientSecretLocation: {
            kind: pathKind,
            fallback: '/etc/secrets/union/client_secret',
            meaning: "File that holds the service app's client secret.",
          },
          tokenUrl: { ...tokenUrl, required: 'with-block' },
          scopes,
        },
      },
    },
  },
  unionAuth: {
    injectSecret: {
      kind: booleanKind,
      fallback: true,
      meaning: 'Whether the executor injects the secret into task pods.',
    },
    secretName: {
      kind: secretNameKind,
      fallback: 'EAGER_API_KEY',
      meaning:
        'Key, in a Kubernetes Secret, of the API key that task pods call back with. In lower case with `-` for `_` it is the name of the Secret. The variable in the pod is always `EAGER_API_KEY`.',
    },
    podLabel: {
      kind: labelNameKind,
      fallback: 'sallyport/inject-api-key',
      meaning: 'Label of the pods that get the API key, with the value `true`.',
    },
    namespaceLabel: {
      kind: labelNameKind,
      fallback: 'sallyport/api-key-injection',
      meaning: 'Label of the namespaces whose pods may get the API key, with the value `true`.',
    },
  },
  secrets: {
    admin: {
      enable: {
        kind: booleanKind,
        fallback: true,
        meaning: "Whether the data plane's secret is mounted.",
      },
      create: {
        kind: booleanKind,
        fallback: false,
        meaning:
          'Whether the secret is created, with `clientSecret` in it; otherwise it must be provided from outside.',
      },
      clientId: {
        kind: clientIdKind,
        fallback: '',
        required: 'with-block',
        variable: 'AUTH_CLIENT_ID',
        meaning:
          'Client ID of the service app on the data plane; equals `union.auth.clientId` of the control plane, unless `auth.separateServiceApps` is true.',
      },
      clientSecret: {
        kind: secretKind,
        fallback: new SecretText(''),
        meaning: 'Stand-in value, overwritten later. Needed with `create: true`.',
      },
    },
    adminOauthClientCredentials: {
      enabled: {
        kind: booleanKind,
        fallback: true,
        meaning:
          "Whether the scheduler's secret is mounted; without it the scheduler fails to start.",
      },
      clientSecret: {
        kind: secretKind,
        fallback: new SecretText(''),
        meaning: 'Stand-in value; when given, the secret `core-secret-auth` is created.',
      },
    },
  },
};
