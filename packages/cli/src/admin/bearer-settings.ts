/**
 * From configuration to what is accepted as a bearer.
 *
 * @module
 */

import { type Config, listAudienceSpellings } from '@sallyport/config';
import type { BearerSettings, IssuerSettings } from '@sallyport/server';

/**
 * Selects whose bearer tokens are accepted: the authorization server's, and those of the further
 * issuers.
 *
 * The public URL and the admin service's in-cluster addresses are audiences at the first issuer; a
 * further issuer has its own list, or the public URL alone.
 *
 * @param introspectionSecret - Reads the secret for the introspection endpoint, current at each use;
 *   absent where none is configured.
 */
export function selectBearerSettings(
  config: Config,
  introspectionSecret: (() => string) | undefined,
): BearerSettings {
  const { auth, bearer, publicUrl } = config;
  const { baseUrl, allowedAudience, metadataUrl } = auth.appAuth.externalAuthServer;
  const webClientId = auth.userAuth.openId.clientId;
  const nativeClientId = auth.appAuth.thirdPartyConfig.flyteClient.clientId;
  const first: IssuerSettings = {
    issuer: baseUrl,
    metadataUrl,
    audiences: [publicUrl, ...auth.authorizedUris, ...allowedAudience],
    algorithms: bearer.algorithms,
    clientIdClaims: bearer.clientIdClaims,
    scopeClaims: bearer.scopeClaims,
    subjectClaim: bearer.subjectClaim,
    subjectPrefix: bearer.subjectPrefix,
    emailTrusted: config.emailTrusted,
  };
  return {
    issuers: [first, ...bearer.issuers.map((issuer) => toIssuerSettings(issuer, publicUrl))],
    requiredScopes: bearer.requiredScopes,
    sessionClientIds: [webClientId],
    interactiveClientIds: [webClientId, nativeClientId],
    ...(introspectionSecret === undefined
      ? {}
      : {
          introspection: {
            ...bearer.introspection,
            clientSecret: introspectionSecret,
            issuer: first,
          },
        }),
  };
}

function toIssuerSettings(
  issuer: Config['bearer']['issuers'][number],
  publicUrl: string,
): IssuerSettings {
  return { ...issuer, audiences: issuer.audiences.length === 0 ? [publicUrl] : issuer.audiences };
}

/**
 * Lists what a token's `aud` may be, character by character, for each issuer. The client ids of people's
 * applications are left out, as the check does.
 */
export function listAcceptedAudiences(config: Config): ReadonlyMap<string, readonly string[]> {
  const { issuers, interactiveClientIds } = selectBearerSettings(config, undefined);
  return new Map(
    issuers.map(({ issuer, audiences }) => [
      issuer,
      [...new Set(audiences.flatMap(listAudienceSpellings))].filter(
        (audience) => !interactiveClientIds.includes(audience),
      ),
    ]),
  );
}
