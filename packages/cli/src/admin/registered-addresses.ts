/**
 * The addresses that have to be registered at the identity provider, as the configuration gives them.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import type { Config } from '@sallyport/config';
import { listRegisteredAddresses } from '@sallyport/protocol';
import type { Log } from '@sallyport/server/observe';

/** Those of the web app by the names of their metadata, and the redirect address of the native app. None without `useAuth`. */
export function listAddresses({
  publicUrl,
  server,
  auth,
}: Pick<Config, 'auth' | 'publicUrl' | 'server'>): Readonly<Record<string, string>> {
  if (!server.security.useAuth) return {};
  return {
    ...listRegisteredAddresses(new URL(publicUrl).origin),
    native_redirect_uri: auth.appAuth.thirdPartyConfig.flyteClient.redirectUri,
  };
}

/** Logs them at the first start, which is one without a key ring yet: no browser comes back from an IdP that does not know them. */
export function logAddresses(config: Config, log: Log): void {
  if (!config.server.security.useAuth || existsSync(config.session.keyRingFile)) return;
  log('info', 'addresses_to_register', listAddresses(config));
}
