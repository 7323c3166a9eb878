/**
 * Schema of the `admin` block: how SDK, command line and services reach the platform.
 *
 * @module
 */

import type { AdminClientConfig } from '../config.ts';
import { commandKind } from '../kinds/command.ts';
import { booleanKind, enumKind, listKind } from '../kinds/kind.ts';
import { bearerHeaderKind, clientEndpointKind } from '../kinds/name.ts';
import {
  audienceKind,
  clientIdKind,
  durationKind,
  orEmpty,
  pathKind,
  scopeKind,
  variableNameKind,
} from '../kinds/text.ts';
import { endpointKind } from '../kinds/url.ts';
import type { SchemaOf } from './setting.ts';

/** Schema of the `admin` block (requirement, "Client-side configuration" and "Admin SDK client"). */
export const ADMIN_SCHEMA: SchemaOf<AdminClientConfig> = {
  endpoint: {
    kind: orEmpty(clientEndpointKind),
    fallback: '',
    meaning:
      'Address of the platform for clients, such as `dns:///platform.example.com`. Without a port it is 443, with `insecure` 80.',
  },
  authType: {
    kind: enumKind([
      'Pkce',
      'ClientSecret',
      'DeviceFlow',
      'ExternalCommand',
      'ServiceAccountToken',
    ]),
    fallback: 'ClientSecret',
    meaning:
      '`Pkce` signs a person in by browser, `DeviceFlow` with a code on another device; `ClientSecret` is for automation, `ExternalCommand` asks a program, `ServiceAccountToken` takes the token of a Kubernetes pod. Left out, a client with a secret uses `ClientSecret` and one without `Pkce`.',
  },
  insecure: {
    kind: booleanKind,
    fallback: false,
    meaning: 'Whether clients connect without TLS: tokens can then be read on the way.',
  },
  insecureSkipVerify: {
    kind: booleanKind,
    fallback: false,
    meaning:
      'Whether clients accept any certificate: an attacker on the network path can then take the tokens. For a private certificate authority use `caCertFilePath`.',
  },
  caCertFilePath: {
    kind: orEmpty(pathKind),
    fallback: '',
    meaning: 'File with certificates (PEM) that clients trust beside those of the system.',
  },
  clientId: {
    kind: clientIdKind,
    fallback: '',
    variable: 'INTERNAL_CLIENT_ID',
    meaning:
      'Client ID of the service app. Needed with `authType: ClientSecret`; a person signs in with the client ID in the metadata of the platform.',
  },
  clientSecretLocation: {
    kind: pathKind,
    fallback: '/etc/secrets/client_secret',
    meaning:
      "File that holds the service app's client secret: key `client_secret` of `core-admin-secrets` or `core-secret-auth`.",
  },
  clientSecretEnvVar: {
    kind: orEmpty(variableNameKind),
    fallback: '',
    meaning:
      "Environment variable that holds the service app's client secret, instead of the file.",
  },
  scopes: {
    kind: listKind(scopeKind, 'scopes'),
    fallback: [],
    meaning: 'Scopes of the token; empty takes that of the platform.',
  },
  useAudienceFromAdmin: {
    kind: booleanKind,
    fallback: false,
    meaning:
      'Whether `ClientSecret` asks for the audience in the metadata of the platform; signing a person in always does.',
  },
  audience: {
    kind: orEmpty(audienceKind),
    fallback: '',
    meaning: 'Audience to ask for. Empty asks for none, or for that of the platform.',
  },
  tokenUrl: {
    kind: orEmpty(endpointKind),
    fallback: '',
    meaning: 'Token endpoint of the identity provider; empty takes that of the platform.',
  },
  authorizationHeader: {
    kind: orEmpty(bearerHeaderKind),
    fallback: '',
    meaning: 'Header the token is sent in; empty takes that of the platform.',
  },
  tokenRefreshWindow: {
    kind: durationKind('0s', '24h'),
    fallback: 300_000,
    meaning: 'How long before its end a token is replaced.',
  },
  command: {
    kind: commandKind,
    fallback: [],
    meaning:
      'Program that prints a token, and its arguments, with `authType: ExternalCommand`. No shell is involved.',
  },
  serviceAccountTokenLocation: {
    kind: pathKind,
    fallback: '/var/run/secrets/tokens/platform',
    meaning:
      'File with the projected service-account token, with `authType: ServiceAccountToken`; read again at each use.',
  },
  serviceAccountTokenUse: {
    kind: enumKind(['Bearer', 'ClientAssertion']),
    fallback: 'Bearer',
    meaning:
      '`Bearer` sends the service-account token itself, for a platform that takes the cluster as an issuer. `ClientAssertion` exchanges it at the token endpoint (RFC 7523), for an identity provider that trusts the cluster.',
  },
  disableKeyring: {
    kind: booleanKind,
    fallback: false,
    meaning: "Whether tokens stay out of the system's keyring.",
  },
  pkceConfig: {
    timeout: {
      kind: durationKind('1s', '1h'),
      fallback: 180_000,
      meaning: 'How long a sign-in by browser may take.',
    },
  },
  deviceFlowConfig: {
    timeout: {
      kind: durationKind('1s', '1h'),
      fallback: 600_000,
      meaning: 'How long a sign-in with a code may take; the identity provider may end it sooner.',
    },
  },
};
