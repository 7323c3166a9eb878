/**
 * Whether a project's file would decide where credentials of an application are sent.
 *
 * @module
 */

import type { LoadedClientSettings } from '@sallyport/client';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';
import type { SelectedProfile } from './profile.ts';
import type { Environment } from './sources.ts';

/** Holds a client secret itself, under whichever brand. */
const SECRET_VARIABLE = /^[A-Z0-9_]*CREDENTIALS_CLIENT_SECRET$/;
/** Settings that are credentials or select them; only their origin is looked at. */
const CREDENTIAL_KEYS = [
  'admin.authType',
  'admin.clientId',
  'admin.clientSecretLocation',
  'admin.clientSecretEnvVar',
  'admin.command',
  'admin.serviceAccountTokenLocation',
  'admin.serviceAccountTokenUse',
] as const;
/** Settings that decide who receives a secret or the token it was exchanged for. */
const DESTINATION_KEYS = [
  'admin.insecureSkipVerify',
  'admin.caCertFilePath',
  'admin.tokenUrl',
  'dangerouslyAllowPlainHttpTo',
] as const;
/** The same; an API key says these itself. */
const ENDPOINT_KEYS = ['admin.endpoint', 'admin.insecure'] as const;

/**
 * Refuses credentials of an application from the environment for a profile that only the project's
 * file picked: a repository that was cloned into a build job would choose who receives the job's
 * credentials, though only among the person's own profiles.
 *
 * Credentials that the profile names itself go where the profile says, also when the project's file picked it.
 * So do people, who see where they sign in.
 *
 * @returns The refusal; `undefined` when there is nothing to refuse.
 */
export function refuseProjectChoice(
  { isProjectChoice, origin }: SelectedProfile,
  { settings, origins }: LoadedClientSettings,
  environment: Environment,
): Failure | undefined {
  const isPersonal = settings.authType === 'Pkce' || settings.authType === 'DeviceFlow';
  if (!isProjectChoice || isPersonal) return undefined;
  const isFrom = (source: 'env' | 'file') => (key: string) => origins.get(key)?.origin === source;
  const hasApiKey = settings.authType === 'ApiKey';
  const hasSecret = Object.entries(environment).some(
    ([name, value]) => SECRET_VARIABLE.test(name) && (value ?? '') !== '',
  );
  if (!hasApiKey && !hasSecret && !CREDENTIAL_KEYS.some(isFrom('env'))) return undefined;
  const isEndpointTheirs = !hasApiKey && ENDPOINT_KEYS.some(isFrom('file'));
  if (!isEndpointTheirs && !DESTINATION_KEYS.some(isFrom('file'))) return undefined;
  const platform = isEndpointTheirs ? ', or the platform with CORE_PLATFORM_URL' : '';
  return {
    error: 'profile_not_confirmed',
    description: `${origin}: a project's file does not decide where the credentials in the environment are sent.`,
    hint: `Name the profile with --profile or SALLYPORT_PROFILE${platform}.`,
    exitCode: EXIT.failure,
  };
}
