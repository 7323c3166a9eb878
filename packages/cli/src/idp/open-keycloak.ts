/**
 * A realm of Keycloak as the commands use it.
 *
 * @module
 */

import { createKeycloakAdmin, type KeycloakTarget } from '@sallyport/idp/provision';
import { accept, type Result } from '@sallyport/protocol';
import type { Environment } from '../profile/sources.ts';
import { createFetch } from '../sign-in/network.ts';
import type { Failure } from '../terminal/report.ts';
import type { Stdio } from '../terminal/stdio.ts';
import {
  type RealmOptions,
  readKeycloakPlace,
  type Setup,
  type SetupOptions,
} from './setup-options.ts';

/** A realm, and its admin interface. */
export type OpenedRealm = Pick<KeycloakTarget, 'admin' | 'realm'>;

/** Prepares the way to an issuer: certificates, proxies, and what is kept out of all talk. */
export function openNetwork(
  { caFile = '', issuer = '' }: Pick<SetupOptions, 'caFile' | 'issuer'>,
  environment: Environment,
  { conceal }: Pick<Stdio, 'conceal'>,
): Promise<Result<typeof fetch, Failure>> {
  const settings = { caCertFilePath: caFile, insecureSkipVerify: false, endpoint: issuer };
  return createFetch(settings, environment, conceal);
}

/** Finds the realm and who administrates it. Sends nothing yet. */
export async function openRealm(
  options: RealmOptions,
  stdio: Pick<Stdio, 'conceal'>,
): Promise<Result<OpenedRealm, Failure>> {
  const place = readKeycloakPlace(options, process.env);
  if (!place.ok) return place;
  const { url, realm, adminRealm, credentials } = place.value;
  stdio.conceal(credentials.kind === 'user' ? credentials.password : credentials.clientSecret);
  const network = await openNetwork(options, process.env, stdio);
  if (!network.ok) return network;
  const admin = createKeycloakAdmin({ url, adminRealm, credentials, fetch: network.value });
  return accept({ admin, realm });
}

/** The realm of a setup. Sends nothing yet. */
export async function openKeycloak(
  options: SetupOptions,
  { spec }: Setup,
  stdio: Stdio,
): Promise<Result<KeycloakTarget, Failure>> {
  const opened = await openRealm(options, stdio);
  if (!opened.ok) return opened;
  return accept({
    ...opened.value,
    spec,
    createsRealm: options.createRealm === true,
    rotatesRefreshTokens: options.rotateRefreshTokens === true,
  });
}
