/**
 * The graph: which probes there are for what is to be looked at.
 *
 * @module
 */

import { found, type Probe } from './graph/probe.ts';
import { createAsk } from './network/exchange.ts';
import type { Network } from './network/network.ts';
import { createGateProbes } from './probes/gate.ts';
import { createHostProbes } from './probes/host.ts';
import { createClockProbe, createIssuerProbes } from './probes/issuer.ts';
import { createMetadataProbes } from './probes/metadata.ts';
import type { Subject } from './subject.ts';

const ISSUER_SETTING = 'auth.userAuth.openId.baseUrl (OIDC_BASE_URL)';

/**
 * Lists the probes in the order in which findings are shown: what other things hang on comes first.
 *
 * Without a platform's address nothing is asked of one; without a server configuration the issuer is the one that the
 * platform's metadata names.
 */
export function listProbes(subject: Subject): readonly Probe[] {
  const { network } = subject;
  return network === undefined ? [] : listNetworkProbes(subject, network);
}

function listNetworkProbes(subject: Subject, network: Network): readonly Probe[] {
  const { now, platformUrl, platformSetting, server } = subject;
  const ask = createAsk(network, now);
  const config = server?.loaded.config;
  const allowed = config?.dangerouslyAllowPlainHttpTo ?? [];
  const platform = platformUrl === undefined ? undefined : toUrlProbe('platform', platformUrl);
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

  const issuer: Probe<string> | undefined =
    configuredIssuer !== ''
      ? { ...toText('issuer.configured', configuredIssuer) }
      : metadata && {
          id: 'issuer.named',
          group: 'metadata',
          title: 'the issuer that the platform names',
          needs: [metadata.read],
          run: (answers) => found(answers.get(metadata.read).issuer),
        };
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
        dangerouslyAllowPlainHttpTo: allowed,
      },
      ask,
    );
  return [
    platform,
    ...(host?.all ?? []),
    issuer,
    issuerAddress,
    ...(issuerHost?.all ?? []),
    ...(oidc?.all ?? []),
    ...(gate?.all ?? []),
    ...(metadata?.all ?? []),
    gate && createClockProbe('clocks.platform', 'the platform', gate.http),
    oidc && createClockProbe('clocks.issuer', 'the identity provider', oidc.http),
  ].filter((probe) => probe !== undefined);
}

function toUrlProbe(id: string, url: string): Probe<URL> {
  return {
    id: `${id}.address`,
    group: 'config',
    title: `the address of the ${id}`,
    needs: [],
    run: () => found(new URL(url)),
  };
}

function toText(id: string, text: string): Probe<string> {
  return { id, group: 'config', title: 'the configured issuer', needs: [], run: () => found(text) };
}
