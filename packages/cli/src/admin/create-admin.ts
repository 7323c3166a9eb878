/**
 * The production graph of the admin service's authentication: from configuration to handlers.
 *
 * @module
 */

import { randomFillSync } from 'node:crypto';
import { join } from 'node:path';
import { type Config, selectSameSite } from '@sallyport/config';
import { createRouteMatcher, ROUTE_GROUPS } from '@sallyport/protocol';
import {
  type AdminServer,
  type ClientCredential,
  createAdminServer,
  createClientKeys,
  createKeyRingFile,
  createRelyingParty,
  type Readiness,
  type RelyingParty,
  type RelyingPartyOptions,
  type SessionStore,
} from '@sallyport/server';
import { createIssuers, createMetadataSource, IssuerMismatch } from '@sallyport/server/issuer';
import {
  combineObservers,
  createAudit,
  createVerdictLog,
  describeFailure,
  traceFetch,
  traceStore,
  type VerdictLog,
} from '@sallyport/server/observe';
import type { Ports } from '../process/ports.ts';
import { selectBearerSettings } from './bearer-settings.ts';
import type { WebClientSecret } from './client-secret.ts';
import { logIssuerMismatch } from './issuer-mismatch-log.ts';

/** Steps of {@link random}. */
const RANDOM_STEPS = 2 ** 32;

/**
 * Creates the authentication. Asks the store once; reads no file yet but the key ring, at first use.
 *
 * @param store - Closed together with it.
 * @param webClient - Reads the web app's secret or key, current at each use.
 * @param introspectionSecret - Reads the secret for `bearer.introspection`, where that is configured.
 * @param readiness - The process's, where it may go over to another configuration.
 */
export function createAdmin(
  config: Config,
  store: SessionStore,
  webClient: WebClientSecret,
  { now, schedule, fetch: plainFetch, patientFetch, log, tracer, metrics }: Ports,
  introspectionSecret?: () => string,
  readiness?: Readiness,
): AdminServer {
  const { auth, session, publicUrl } = config;
  const { openId, cookieSetting } = auth.userAuth;
  const url = new URL(publicUrl);
  const credential = toCredential(webClient, now);
  const bearers = selectBearerSettings(config, introspectionSecret);
  const metadataUrls = [
    auth.appAuth.externalAuthServer.metadataUrl,
    ...bearers.issuers.map(({ metadataUrl }) => metadataUrl),
  ];
  const watch = (plain: typeof plainFetch) =>
    traceFetch(metrics?.countIdpCalls(plain, metadataUrls) ?? plain, metadataUrls, tracer);
  const fetch = watch(plainFetch);
  const issuers = createIssuers({
    fetch,
    now,
    schedule,
    dangerouslyAllowPlainHttpTo: config.dangerouslyAllowPlainHttpTo,
    onMismatch: logIssuerMismatch(config, log, now),
  });
  const relyingParty = openRelyingParty(config, {
    issuers,
    credential,
    fetch,
    patientFetch: watch(patientFetch),
    schedule,
    now,
    log,
  });
  const metadata = createMetadataSource({
    issuers,
    now,
    log,
    folder: join(config.stateDirectory, 'metadata'),
  });
  const { externalAuthServer, thirdPartyConfig } = auth.appAuth;
  const verdicts = openVerdictLog(config.observe, { log, schedule });
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
      idleTimeoutMs: session.idleTimeoutMs,
      absoluteMs: session.absoluteLifetimeMs,
      withoutRefreshTokenIdleMs: session.withoutRefreshTokenIdleMs,
      revalidateAfterMs: session.revalidateAfterMs,
      renewalGraceMs: session.renewalGraceMs,
    },
    renewalsPerSecond: session.renewalsPerSecond,
    bearer: {
      httpAuthorizationHeader: auth.httpAuthorizationHeader,
      grpcAuthorizationHeader: auth.grpcAuthorizationHeader,
      onlyConfiguredHeader: config.bearer.onlyConfiguredHeader,
      accepts: bearers,
      subjectPrefix: auth.userAuth.subjectPrefix,
    },
    access: { ...config.access, emailTrusted: config.emailTrusted },
    claimHeaders: config.claimHeaders,
    stripHeaders: config.stripHeaders,
    idpQueryParameter: auth.userAuth.idpQueryParameter,
    rateLimitPerMinute: config.rateLimit.perMinute,
    verdictCacheMs: config.doors.me.verdictCacheMs,
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
    store: traceStore(
      metrics?.timeStore(store) ?? store,
      session.store === 'local' ? 'sqlite' : 'redis',
      tracer,
    ),
    keyRing: createKeyRingFile(session.keyRingFile, now),
    relyingParty,
    issuers,
    clientKeys: credential.method === 'private_key_jwt' ? credential.keys : undefined,
    fetch,
    now,
    schedule,
    log,
    audit: createAudit(log),
    onVerdict: combineObservers(metrics?.onVerdict, verdicts?.observe),
    tracer,
    readiness,
  });
  metrics?.addDoors(admin.doorNames);
  return {
    ...admin,
    async close() {
      await admin.close();
      verdicts?.close();
    },
  };
}

/** What the relying party is made from beside the configuration. */
type RelyingPartyPorts = Pick<
  RelyingPartyOptions,
  'credential' | 'fetch' | 'issuers' | 'now' | 'patientFetch' | 'schedule'
> &
  Pick<Ports, 'log'>;

function openRelyingParty(
  { auth, publicUrl }: Config,
  { log, ...ports }: RelyingPartyPorts,
): RelyingParty {
  const { openId } = auth.userAuth;
  return createRelyingParty({
    ...ports,
    issuer: openId.baseUrl,
    clientId: openId.clientId,
    proof: describeProof(openId),
    pushedAuthorization: openId.pushedAuthorization,
    scopes: openId.scopes,
    publicOrigin: new URL(publicUrl).origin,
    onFailure: (cause) => {
      // Logged once for all that ask this issuer.
      if (cause instanceof IssuerMismatch) return;
      log('warn', 'idp_unreachable', { failure: describeFailure(cause) });
    },
    onReady: () => log('info', 'idp_metadata_read'),
  });
}

/** Where lines of that level are not written, nothing is done for them. */
function openVerdictLog(
  { logLevel, sampleSuccesses }: Config['observe'],
  { log, schedule }: Pick<Ports, 'log' | 'schedule'>,
): VerdictLog | undefined {
  return ['trace', 'debug', 'info'].includes(logLevel)
    ? createVerdictLog({ log, sampleSuccesses, random, schedule })
    : undefined;
}

/** Drawn many at a time: one by one would cost more than the lines it is for. */
const drawn = Buffer.alloc(4_096);
let used = drawn.length;

/** At least 0, below 1; cannot be predicted from the lines that were written. */
function random(): number {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const step = drawn.readUInt32BE(used);
  used += 4;
  return step / RANDOM_STEPS;
}

function toCredential(webClient: WebClientSecret, now: () => number): ClientCredential {
  switch (webClient.method) {
    case 'client_secret':
      return webClient;
    case 'private_key_jwt':
      return { method: 'private_key_jwt', keys: createClientKeys(webClient.key, now) };
  }
}

/** What the web app proves itself by and where that comes from, for the line about an IdP that does not accept it. */
function describeProof({
  clientAuthentication,
  clientSecretFile,
  privateKeyLocation,
}: Config['auth']['userAuth']['openId']): string {
  switch (clientAuthentication) {
    case 'client_secret':
      return `the secret in ${clientSecretFile} (auth.userAuth.openId.clientSecretFile)`;
    case 'private_key_jwt':
      return `the private key in ${privateKeyLocation} (auth.userAuth.openId.privateKeyLocation)`;
  }
}
