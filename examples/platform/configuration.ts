/**
 * The configuration file of each actor, in the requirement's shape.
 *
 * @module
 */

import type { Actor } from './actors.ts';

/** What is the same for all of them. */
export interface PlatformPlace {
  /** `dns:///HOST:PORT`, reached over TLS. */
  readonly endpoint: string;
  /** Certificate of the authority that the platform's own is signed by. */
  readonly caFile: string;
  readonly tokenUrl: string;
  /** The shared service app. */
  readonly clientId: string;
}

/** How long before its end a token is replaced on the data plane (requirement, "Limits"). */
const REFRESH_WINDOW = '5m';
const HEADER = 'core-authorization';
const SCOPES = ['all'];

/**
 * Builds the file's content. On the data plane token endpoint and scopes are left out: the platform's metadata service
 * names both.
 *
 * @param secretFile - Where the key `client_secret` is mounted.
 */
export function buildConfiguration(
  { name, plane, block }: Actor,
  { endpoint, caFile, tokenUrl, clientId }: PlatformPlace,
  secretFile: string,
): object {
  const platform = { endpoint, caCertFilePath: caFile };
  const client = { clientId, clientSecretLocation: secretFile };
  const isControlPlane = plane === 'control plane';
  switch (block) {
    case 'admin':
      return {
        admin: {
          ...platform,
          authType: 'ClientSecret',
          ...client,
          ...(isControlPlane ? {} : { tokenRefreshWindow: REFRESH_WINDOW }),
        },
        ...(name === 'scheduler'
          ? { secrets: { adminOauthClientCredentials: { enabled: true } } }
          : {}),
      };
    case 'union.auth':
      return {
        admin: platform,
        union: {
          auth: {
            enable: true,
            type: 'ClientSecret',
            ...client,
            authorizationMetadataKey: HEADER,
            ...(isControlPlane
              ? { tokenUrl, scopes: SCOPES }
              : { tokenRefreshWindow: REFRESH_WINDOW }),
          },
        },
        ...(name === 'executor'
          ? { unionAuth: { injectSecret: true, secretName: 'EAGER_API_KEY' } }
          : {}),
      };
    case 'executions.app.adminClient.connection':
      return {
        admin: platform,
        executions: {
          app: {
            adminClient: {
              connection: { authorizationHeader: HEADER, ...client, tokenUrl, scopes: SCOPES },
            },
          },
        },
      };
    case undefined:
      return {};
  }
}
