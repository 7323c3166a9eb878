/**
 * A realm of Keycloak as the commands use it.
 *
 * @module
 */

import { createKeycloakAdmin, type KeycloakTarget } from '@sallyport/idp/provision';
import { accept, type Result } from '@sallyport/protocol';
import { createPlainFetch } from '@sallyport/server/issuer';
import { systemSchedule } from '../process/system-schedule.ts';
import type { Environment } from '../profile/sources.ts';
import { endFetchWith } from '../sign-in/ending-fetch.ts';
import { createFetch, findProxy } from '../sign-in/network.ts';
import type { Failure } from '../terminal/report.ts';
import { showSlowRequests } from '../terminal/slow-requests.ts';
import type { Stdio } from '../terminal/stdio.ts';
import {
  type RealmOptions,
  readKeycloakPlace,
  type Setup,
  type SetupOptions,
} from './setup-options.ts';

/** What the way to an issuer hangs on. */
type NetworkOptions = Pick<SetupOptions, 'caFile' | 'issuer' | 'json'>;

/** A realm, and its admin interface. */
export type OpenedRealm = Pick<KeycloakTarget, 'admin' | 'realm'>;

/**
 * Prepares the way to an issuer: certificates, proxies, and what is kept out of all talk. On a terminal a request that takes long is named.
 *
 * @param signal - Ends every request. Absent where nothing may end one on its way; then none is named.
 */
export async function openNetwork(
  { caFile = '', issuer = '', json = false }: NetworkOptions,
  environment: Environment,
  { conceal }: Pick<Stdio, 'conceal'>,
  signal?: AbortSignal,
): Promise<Result<typeof fetch, Failure>> {
  const settings = { caCertFilePath: caFile, insecureSkipVerify: false, endpoint: issuer };
  // The runtime's own fetch keeps the process for minutes where a proxy does not answer.
  const network = await createFetch(settings, environment, conceal, () =>
    createPlainFetch(systemSchedule),
  );
  if (!network.ok) return network;
  // A line that no signal ends would leave the terminal without its cursor.
  if (signal === undefined) return network;
  const send = endFetchWith(signal, network.value);
  if (json) return accept(send);
  const ports = {
    output: process.stderr,
    schedule: systemSchedule,
    findProxy: (url: URL) => findProxy(url, environment),
  };
  return accept(showSlowRequests(send, ports));
}

/** Finds the realm and who administrates it. Sends nothing yet. */
export async function openRealm(
  options: RealmOptions & NetworkOptions,
  stdio: Pick<Stdio, 'conceal'>,
  signal?: AbortSignal,
): Promise<Result<OpenedRealm, Failure>> {
  const place = readKeycloakPlace(options, process.env);
  if (!place.ok) return place;
  const { url, realm, adminRealm, credentials } = place.value;
  stdio.conceal(credentials.kind === 'user' ? credentials.password : credentials.clientSecret);
  const network = await openNetwork(options, process.env, stdio, signal);
  if (!network.ok) return network;
  const admin = createKeycloakAdmin({ url, adminRealm, credentials, fetch: network.value });
  return accept({ admin, realm });
}

/** The realm of a setup. Sends nothing yet. */
export async function openKeycloak(
  options: SetupOptions,
  { spec }: Setup,
  stdio: Stdio,
  signal?: AbortSignal,
): Promise<Result<KeycloakTarget, Failure>> {
  const opened = await openRealm(options, stdio, signal);
  if (!opened.ok) return opened;
  return accept({
    ...opened.value,
    spec,
    createsRealm: options.createRealm === true,
    rotatesRefreshTokens: options.rotateRefreshTokens === true,
  });
}
