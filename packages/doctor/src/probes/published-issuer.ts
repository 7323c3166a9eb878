/**
 * The issuer in the metadata for clients, beside the configured one.
 *
 * @module
 */

import type { PlatformMetadata } from '@sallyport/client';
import type { Config } from '@sallyport/config';
import type { Finding } from '../finding/finding.ts';
import { found, type Probe } from '../graph/probe.ts';
import { toDifference } from './metadata.ts';

/**
 * Makes `metadata.issuer`.
 *
 * @param discovery - The metadata of the issuer that people sign in at. Where bearer tokens are of the same issuer, the probe needs
 *   it: an issuer that is configured wrong is named there, with what to set. Absent where that issuer is not asked.
 */
export function createPublishedIssuerProbe(
  read: Probe<PlatformMetadata>,
  discovery: Probe | undefined,
  config: Config,
): Probe {
  return {
    id: 'metadata.issuer',
    group: 'metadata',
    title: 'the issuer in the metadata beside the configuration',
    needs: discovery !== undefined && hasOneIssuer(config) ? [read, discovery] : [read],
    run: (answers) => found(undefined, compareIssuers(answers.get(read).issuer, config)),
  };
}

/** A finding where the platform publishes another issuer of bearer tokens than is configured. */
export function compareIssuers(published: string, config: Config): readonly Finding[] {
  const configured = config.auth.appAuth.externalAuthServer.baseUrl;
  if (configured === published) return [];
  const key = hasOneIssuer(config)
    ? 'auth.userAuth.openId.baseUrl (OIDC_BASE_URL)'
    : 'auth.appAuth.externalAuthServer.baseUrl';
  return [toDifference('metadata_issuer_differs', 'issuer', key, configured, published)];
}

/** Whether bearer tokens are of the issuer that people sign in at, as they are where no other one is given. */
function hasOneIssuer({ auth }: Config): boolean {
  return auth.appAuth.externalAuthServer.baseUrl === auth.userAuth.openId.baseUrl;
}
