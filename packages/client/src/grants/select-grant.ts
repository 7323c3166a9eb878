/**
 * The grant that the settings ask for.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { Grant, GrantKind } from '../grant.ts';
import type { PlatformMetadata } from '../platform-metadata.ts';
import type { AuthType, ClientSettings } from '../settings/client-settings.ts';
import { createClientCredentialsGrant } from './client-credentials.ts';
import { createDeviceCodeGrant } from './device-code.ts';
import { createExternalCommandGrant } from './external-command.ts';
import { createPkceGrant } from './pkce.ts';
import type { InteractivePorts, SecretPorts } from './ports.ts';
import { createServiceAccountTokenGrant } from './service-account-token.ts';

/** What a request for tokens is about; equal for every grant. */
export interface TokenSubject {
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Empty: none. */
  readonly audience: string;
}

/** The kind of grant of each way. */
export const GRANT_KINDS: Readonly<Record<AuthType, GrantKind>> = {
  Pkce: 'pkce',
  DeviceFlow: 'device_code',
  ClientSecret: 'client_credentials',
  ApiKey: 'client_credentials',
  ExternalCommand: 'external_command',
  ServiceAccountToken: 'service_account_token',
};

/** Whether a way signs a person in. */
export function isForPeople(authType: AuthType): boolean {
  return authType === 'Pkce' || authType === 'DeviceFlow';
}

/** Scopes that say something about a person, or keep one signed in; no application has them. */
const PERSONAL_SCOPES: ReadonlySet<string> = new Set([
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'offline',
  'offline_access',
]);

/** Whether the settings leave something to be asked of the platform before tokens can be. */
export function needsMetadata(settings: ClientSettings): boolean {
  const { authType, tokenUrl, scopes, useAudienceFromAdmin, audience, serviceAccountToken } =
    settings;
  const isIncomplete =
    tokenUrl === '' || scopes === undefined || (useAudienceFromAdmin && audience === '');
  switch (authType) {
    case 'Pkce':
    case 'DeviceFlow':
    case 'ApiKey':
      return true;
    case 'ClientSecret':
      return isIncomplete;
    case 'ServiceAccountToken':
      return serviceAccountToken.use === 'ClientAssertion' && isIncomplete;
    case 'ExternalCommand':
      return false;
  }
}

/**
 * Puts settings and metadata together; a setting always wins.
 *
 * An application asks for the platform's audience only if its settings say so, or with an API key, whose
 * issuer configured the platform. Scopes that the platform lists for people only are left out for it.
 */
export function describeSubject(
  settings: ClientSettings,
  metadata: PlatformMetadata | undefined,
): TokenSubject {
  const { authType, audience, useAudienceFromAdmin } = settings;
  const takesAudience = isForPeople(authType) || authType === 'ApiKey' || useAudienceFromAdmin;
  const advertised = takesAudience ? (metadata?.audience ?? '') : '';
  return {
    tokenEndpoint: settings.tokenUrl === '' ? (metadata?.tokenEndpoint ?? '') : settings.tokenUrl,
    clientId: isForPeople(authType) ? (metadata?.clientId ?? '') : settings.clientId,
    scopes:
      settings.scopes ??
      (metadata?.scopes ?? []).filter(
        (scope) => isForPeople(authType) || !PERSONAL_SCOPES.has(scope),
      ),
    audience: audience === '' ? advertised : audience,
  };
}

/**
 * Creates the grant that the settings ask for.
 *
 * @param metadata - Required when {@link needsMetadata} says so.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when something it needs is missing.
 */
export function selectGrant(
  settings: ClientSettings,
  metadata: PlatformMetadata | undefined,
  ports: InteractivePorts & SecretPorts,
): Grant {
  const subject = describeSubject(settings, metadata);
  const { dangerouslyAllowPlainHttpTo } = settings;
  const { path, use } = settings.serviceAccountToken;
  switch (settings.authType) {
    case 'Pkce':
      return createPkceGrant(
        {
          ...subject,
          metadata: needed(metadata),
          timeoutMs: settings.pkceTimeoutMs,
          dangerouslyAllowPlainHttpTo,
        },
        ports,
      );
    case 'DeviceFlow':
      return createDeviceCodeGrant(
        {
          ...subject,
          metadata: needed(metadata),
          timeoutMs: settings.deviceTimeoutMs,
          dangerouslyAllowPlainHttpTo,
        },
        ports,
      );
    case 'ClientSecret':
    case 'ApiKey':
      return createClientCredentialsGrant(
        { ...subject, clientSecret: needed(settings.clientSecret) },
        ports,
      );
    case 'ExternalCommand':
      return createExternalCommandGrant({ command: settings.command, now: ports.now });
    case 'ServiceAccountToken':
      return createServiceAccountTokenGrant(
        use === 'Bearer' ? { path, use } : { ...subject, path, use },
        ports,
      );
  }
}

function needed<T>(value: T | undefined): T {
  if (value !== undefined) return value;
  throw new SallyportError('SP_CONFIG_INVALID', {
    component: 'client',
    detail: 'the settings lack what this way to obtain tokens needs',
  });
}
