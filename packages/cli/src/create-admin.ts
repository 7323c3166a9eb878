/**
 * The production graph of the admin service's authentication: from configuration to handlers.
 *
 * @module
 */

import { join } from 'node:path';
import { type Config, selectSameSite } from '@sallyport/config';
import { createRouteMatcher, ROUTE_GROUPS } from '@sallyport/protocol';
import {
  type AdminServer,
  createAdminServer,
  createKeyRingFile,
  createLocalSessionStore,
  createMetadataSource,
  createRelyingParty,
  describeFailure,
} from '@sallyport/server';
import { selectBearerSettings } from './bearer-settings.ts';
import type { Ports } from './ports.ts';

/** How soon the IdP is asked again whether a session still stands. */
const REVALIDATE_AFTER_MS = 600_000;

/**
 * Creates the authentication. Reads no file yet but the key ring and the store, at first use.
 *
 * @param clientSecret - Reads the web app's secret, current at each use.
 * @param introspectionSecret - Reads the secret for `bearer.introspection`, where that is configured.
 */
export function createAdmin(
  config: Config,
  clientSecret: () => string,
  { now, schedule, fetch, log }: Ports,
  introspectionSecret?: () => string,
): AdminServer {
  const { auth, session, publicUrl } = config;
  const { openId, cookieSetting } = auth.userAuth;
  const url = new URL(publicUrl);
  const relyingParty = createRelyingParty({
    issuer: openId.baseUrl,
    clientId: openId.clientId,
    clientSecret,
    scopes: openId.scopes,
    publicOrigin: url.origin,
    fetch,
    schedule,
    now,
    onFailure: (cause) => log('warn', 'idp_unreachable', { failure: describeFailure(cause) }),
    onReady: () => log('info', 'idp_metadata_read'),
  });
  const metadata = createMetadataSource({
    fetch,
    now,
    schedule,
    log,
    folder: join(config.stateDirectory, 'metadata'),
  });
  const { externalAuthServer, thirdPartyConfig } = auth.appAuth;
  const admin = createAdminServer({
    publicUrl: url,
    redirectOrigins: config.redirectOrigins,
    landing: auth.userAuth.redirectUrl,
    trustedProxies: config.trustedProxies,
    cookie: {
      sameSite: selectSameSite(cookieSetting.sameSitePolicy),
      domain: cookieSetting.domain,
    },
    lifetimes: {
      idleMs: session.idleTimeoutMs,
      absoluteMs: session.absoluteLifetimeMs,
      withoutRefreshTokenIdleMs: session.withoutRefreshTokenIdleMs,
      revalidateAfterMs: REVALIDATE_AFTER_MS,
    },
    bearer: {
      httpAuthorizationHeader: auth.httpAuthorizationHeader,
      grpcAuthorizationHeader: auth.grpcAuthorizationHeader,
      onlyConfiguredHeader: config.bearer.onlyConfiguredHeader,
      accepts: selectBearerSettings(config, introspectionSecret),
      subjectPrefix: auth.userAuth.subjectPrefix,
    },
    access: { ...config.access, emailTrusted: config.emailTrusted },
    claimHeaders: config.claimHeaders,
    stripHeaders: config.stripHeaders,
    idpQueryParameter: auth.userAuth.idpQueryParameter,
    rateLimitPerMinute: config.rateLimit.perMinute,
    matchRoute: createRouteMatcher(ROUTE_GROUPS),
    metadata: {
      authorizationServer: metadata.of(externalAuthServer.baseUrl, externalAuthServer.metadataUrl),
      signInServer: metadata.of(openId.baseUrl),
      publicClient: {
        ...thirdPartyConfig.flyteClient,
        authorizationMetadataKey: auth.grpcAuthorizationHeader,
        serviceHttpEndpoint: url.origin,
      },
    },
    store: createLocalSessionStore({ path: join(config.stateDirectory, 'sessions.sqlite'), now }),
    keyRing: createKeyRingFile(session.keyRingFile, now),
    relyingParty,
    fetch,
    now,
    schedule,
    log,
  });
  return {
    ...admin,
    close() {
      metadata.close();
      admin.close();
    },
  };
}
