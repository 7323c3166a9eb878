/**
 * The graph: which probes there are for what is to be looked at.
 *
 * @module
 */

import { API_KEY_VARIABLE, DEFAULT_AUTHORIZATION_HEADER } from '@sallyport/protocol';
import { found, type Probe } from './graph/probe.ts';
import { createAsk } from './network/exchange.ts';
import type { Network } from './network/network.ts';
import { createApiKeyProbe } from './probes/api-key.ts';
import { createClusterProbes } from './probes/cluster.ts';
import { createConfigurationProbes } from './probes/configuration.ts';
import { createGateProbes } from './probes/gate.ts';
import { listGrantProbes } from './probes/grant-list.ts';
import { createCookieProbe, createHeaderProbes } from './probes/headers.ts';
import { createHostProbes } from './probes/host.ts';
import { createClockProbe, createIssuerProbes } from './probes/issuer.ts';
import { createMetadataProbes } from './probes/metadata.ts';
import { createNginxProbes } from './probes/nginx.ts';
import { createProxyBufferProbe } from './probes/proxy-buffers.ts';
import { createPublishedIssuerProbe } from './probes/published-issuer.ts';
import { listSecretUses } from './probes/secret-uses.ts';
import { createSecretProbes, type SecretProbes } from './probes/secrets.ts';
import type { Subject } from './subject.ts';

/** Ids of probes that all those of a part hang on: postponing one postpones the part. */
export const PART_PROBES = { platform: 'platform.dns', webSecret: 'secrets.web' } as const;

const ISSUER_SETTING = 'auth.userAuth.openId.baseUrl (OIDC_BASE_URL)';

/**
 * Lists the probes in the order in which findings are shown: what other things hang on comes first.
 *
 * Without a platform's address nothing is asked of one; without a server configuration the issuer is the one that the
 * platform's metadata names, and no secret is sent.
 */
export function listProbes(subject: Subject): readonly Probe[] {
  const { network, further, cluster, nginx, server, now, apiKey, platformUrl } = subject;
  const secretName = server?.loaded.config.unionAuth.secretName ?? API_KEY_VARIABLE;
  const header = server?.loaded.config.auth.httpAuthorizationHeader ?? DEFAULT_AUTHORIZATION_HEADER;
  const secrets = createSecretProbes(listSecretUses(subject), network !== undefined);
  return [
    ...createConfigurationProbes(subject),
    ...(network === undefined ? secrets.all : listNetworkProbes(subject, network, secrets)),
    ...(apiKey === '' ? [] : [createApiKeyProbe(apiKey, platformUrl)]),
    ...(nginx === undefined ? [] : createNginxProbes(nginx, header)),
    ...(cluster === undefined
      ? []
      : createClusterProbes(cluster, { header, secretName, platformUrl }, now)),
    ...further,
  ];
}

function listNetworkProbes(
  subject: Subject,
  network: Network,
  secrets: SecretProbes,
): readonly Probe[] {
  const { now, platformUrl, platformSetting, server } = subject;
  const ask = createAsk(network, now);
  const config = server?.loaded.config;
  const isOff = config?.server.security.useAuth === false;
  const platform = platformUrl === undefined ? undefined : toUrlProbe(platformUrl);
  const configuredIssuer = config?.auth.userAuth.openId.baseUrl ?? '';

  const host =
    platform &&
    createHostProbes(
      { id: 'platform', name: 'the platform', address: platform, setting: platformSetting },
      network,
      now,
    );
  const gate = host && createGateProbes(host.ready, ask);
  const metadata =
    host &&
    gate &&
    createMetadataProbes({ ready: host.ready, routes: gate.routes }, ask, network.fetch, config);

  const issuer = configuredIssuer === '' ? nameIssuer(metadata?.read) : toText(configuredIssuer);
  const setting = configuredIssuer === '' ? 'the issuer of the platform' : ISSUER_SETTING;
  const issuerAddress: Probe<URL> | undefined = issuer && {
    id: 'issuer.address',
    group: 'config',
    title: "the identity provider's address",
    needs: [issuer],
    run: (answers) => found(new URL(answers.get(issuer))),
  };
  const issuerHost =
    issuerAddress &&
    createHostProbes(
      { id: 'issuer', name: 'the identity provider', address: issuerAddress, setting },
      network,
      now,
    );
  const oidc =
    issuer &&
    issuerHost &&
    createIssuerProbes(
      {
        issuer,
        metadataUrl: '',
        ready: issuerHost.ready,
        setting,
        dangerouslyAllowPlainHttpTo: config?.dangerouslyAllowPlainHttpTo ?? [],
      },
      ask,
    );
  const headers =
    host &&
    gate &&
    metadata &&
    createHeaderProbes(
      { metadata: metadata.read, ready: host.ready, routes: gate.routes },
      subject.clients,
      config,
      ask,
    );
  const grants =
    isOff || issuer === undefined || issuerHost === undefined || oidc === undefined
      ? []
      : listGrantProbes(
          subject,
          { issuer, issuerHost, discovery: oidc.discovery, secrets, host, gate, metadata, headers },
          network,
          ask,
        );
  return [
    platform,
    ...(host?.all ?? []),
    ...(isOff ? [] : [issuer, issuerAddress, ...(issuerHost?.all ?? []), ...(oidc?.all ?? [])]),
    ...secrets.all,
    gate && createClockProbe('clocks.platform', 'the platform', gate.http),
    isOff
      ? undefined
      : oidc && createClockProbe('clocks.issuer', 'the identity provider', oidc.http),
    ...(gate?.all ?? []),
    ...(metadata?.all ?? []),
    metadata &&
      config &&
      createPublishedIssuerProbe(metadata.read, isOff ? undefined : oidc?.discovery, config),
    ...(headers?.all ?? []),
    gate && createCookieProbe(gate.login),
    host && gate && createProxyBufferProbe(host.ready, gate.login, ask),
    ...grants,
  ].filter((probe) => probe !== undefined);
}

function nameIssuer(
  read: ReturnType<typeof createMetadataProbes>['read'] | undefined,
): Probe<string> | undefined {
  return (
    read && {
      id: 'issuer.named',
      group: 'metadata',
      title: 'the issuer that the platform names',
      needs: [read],
      run: (answers) => found(answers.get(read).issuer),
    }
  );
}

function toUrlProbe(url: string): Probe<URL> {
  return {
    id: 'platform.address',
    group: 'config',
    title: 'the address of the platform',
    needs: [],
    run: () => found(new URL(url)),
  };
}

function toText(issuer: string): Probe<string> {
  return {
    id: 'issuer.configured',
    group: 'config',
    title: 'the configured issuer',
    needs: [],
    run: () => found(issuer),
  };
}
