/**
 * Faults of the group: configuration.
 *
 * @module
 */

import { type Fault, openId, service } from '../fault.ts';
import { IDS } from '../faulty-plane.ts';

/** In this order in the table. */
export const CONFIGURATION_FAULTS: readonly Fault[] = [
  {
    fault: 'the configuration has an unknown key',
    cause: 'config_invalid',
    ground: 'files',
    make: () => ({ config: { publicUrI: 'x' } }),
  },
  {
    fault: 'server.security.useAuth is not true in the file',
    cause: 'auth_disabled',
    ground: 'files',
    make: () => ({ config: { server: { security: { useAuth: false } } } }),
  },
  {
    fault: 'union.auth.enable is not true',
    cause: 'service_auth_disabled',
    ground: 'files',
    make: () => ({ config: service({ enable: false }) }),
  },
  {
    fault: 'adminOauthClientCredentials.enabled is not true',
    cause: 'scheduler_secret_not_enabled',
    ground: 'files',
    make: () => ({ config: { secrets: { adminOauthClientCredentials: { enabled: false } } } }),
  },
  {
    fault: 'secrets.admin.enable is not true',
    cause: 'data_plane_secret_not_enabled',
    ground: 'files',
    make: () => ({ config: { secrets: { admin: { enable: false } } } }),
  },
  {
    fault: 'AUTH_CLIENT_ID differs from INTERNAL_CLIENT_ID',
    cause: 'client_ids_differ',
    ground: 'files',
    make: (plane) => ({
      clients: [
        {
          union: {
            auth: {
              clientId: 'data-plane-app',
              clientSecretLocation: plane.write('client_secret', 'some-secret-of-its-own'),
              tokenUrl: `${plane.issuer}/idp/token`,
            },
          },
        },
      ],
    }),
  },
  {
    fault: 'OIDC_CLIENT_ID is the client ID of the native app',
    cause: 'client_ids_equal',
    probe: 'config.server',
    ground: 'files',
    make: () => ({ config: openId({ clientId: IDS.native }) }),
  },
  {
    fault: 'a service is configured with another header than the admin service',
    cause: 'header_name_differs',
    probe: 'config.server',
    ground: 'files',
    make: () => ({ config: service({ authorizationMetadataKey: 'x-other' }) }),
  },
  {
    fault: 'a client accepts any certificate',
    cause: 'config_warning',
    ground: 'files',
    make: ({ url }) => ({ clients: [{ admin: { endpoint: url, insecureSkipVerify: true } }] }),
  },
];
