/**
 * The probes of all applications' grants, put together.
 *
 * @module
 */

import type { ClientSettings, PlatformMetadata } from '@sallyport/client';
import type { Config } from '@sallyport/config';
import { isLoopbackHost } from '@sallyport/protocol';
import type { IssuerDocument } from '@sallyport/server/issuer';
import { type Finding, warn } from '../finding/finding.ts';
import { found, type Probe, skipped } from '../graph/probe.ts';
import type { Ask } from '../network/exchange.ts';
import type { Network } from '../network/network.ts';
import type { ClientSubject, Subject } from '../subject.ts';
import { createNativeAuthorizationProbes, createWebAuthorizationProbe } from './authorization.ts';
import type { GateProbes } from './gate.ts';
import {
  createDeviceGrantProbe,
  createServiceGrantProbe,
  createWebGrantProbe,
  type NativeApp,
} from './grants.ts';
import { createHostProbes, type HostProbes } from './host.ts';
import { createConfirmationProbe } from './metadata.ts';
import { WEB_APP } from './secret-uses.ts';
import type { SecretProbes } from './secrets.ts';
import { createSharedVerdictProbe } from './shared-verdict.ts';
import { createAdmissionProbe, createTokenProbe } from './token.ts';

/** What these probes hang on. What is absent was not to be looked at. */
export interface GrantRoots {
  readonly issuer: Probe<string>;
  readonly issuerHost: HostProbes;
  readonly discovery: Probe<IssuerDocument>;
  readonly secrets: SecretProbes;
  readonly host: HostProbes | undefined;
  readonly gate: GateProbes | undefined;
  readonly metadata: { readonly read: Probe<PlatformMetadata> } | undefined;
  readonly headers: { readonly read: Probe<string> } | undefined;
}

/** Stands for the token endpoint that the platform names; no address is written so. */
const CONFIRMED = 'confirmed';

/** Lists them: the token endpoint, the web app, the service apps, the native app. */
export function listGrantProbes(
  subject: Subject,
  roots: GrantRoots,
  network: Network,
  ask: Ask,
): readonly Probe[] {
  const { secrets, discovery, gate } = roots;
  const config = subject.server?.loaded.config;
  const others = [...secrets.held.values()];
  const probes: Probe[] = [];

  const endpoints = new Map<string, Probe<string>>();
  /** The address that a client has configured; without one the issuer's, which is then the configured one. */
  const endpointOf = (tokenUrl: string): Probe<string> => {
    const known = endpoints.get(tokenUrl);
    if (known !== undefined) return known;
    const { all, ready } = createEndpointProbes(
      { tokenUrl },
      endpoints.size,
      roots,
      subject,
      network,
    );
    probes.push(...all);
    endpoints.set(tokenUrl, ready);
    return ready;
  };

  /** The address that the platform and its issuer both name. */
  const confirmedEndpoint = (): Probe<string> | undefined => {
    const known = endpoints.get(CONFIRMED);
    if (known !== undefined || roots.metadata === undefined || roots.host === undefined)
      return known;
    const ground = { ready: roots.host.ready, read: roots.metadata.read, discovery };
    const confirmed = createConfirmationProbe(ground, network.fetch, config);
    const named = { tokenUrl: '', confirmed };
    const { all, ready } = createEndpointProbes(named, endpoints.size, roots, subject, network);
    probes.push(confirmed, ...all);
    endpoints.set(CONFIRMED, ready);
    return ready;
  };

  const webSecret = secrets.held.get(WEB_APP);
  const web =
    config &&
    webSecret &&
    createWebGrantProbe(config, { secret: webSecret, endpoint: endpointOf(''), others, ask });
  if (web !== undefined) probes.push(web);
  if (gate !== undefined)
    probes.push(createWebAuthorizationProbe({ login: gate.login, discovery, web, config }, ask));
  for (const [at, client] of subject.clients.entries()) {
    const secret = secrets.held.get(`client.${at + 1}`);
    if (secret === undefined || client.settings === undefined) continue;
    const isNamed = mayReceiveSecret(client.settings, config);
    if (!isNamed && !isOwnPlatform(client.settings, subject.platformUrl)) {
      probes.push(toUntried(`client.${at + 1}`, client));
      continue;
    }
    const endpoint = isNamed ? endpointOf(client.settings.tokenUrl) : confirmedEndpoint();
    if (endpoint === undefined) continue;
    const ground = { secret, endpoint, others, ask };
    const isFirst = probes.every((probe) => probe.id !== 'proxy.verdicts');
    const id = `client.${at + 1}`;
    probes.push(...listServiceProbes(id, client, ground, subject, roots, isFirst));
  }
  probes.push(...listNativeProbes(roots, ask));
  return probes;
}

/** Whether the token endpoint is one that a configuration names: the client's own, or that of the platform it is for. */
function mayReceiveSecret(
  { tokenUrl, endpoint }: ClientSettings,
  config: Config | undefined,
): boolean {
  if (tokenUrl !== '') return true;
  if (config === undefined) return false;
  // A platform on one port may be reached with TLS and without; the secret goes to the configured issuer's endpoint.
  const own = listOwnOrigins(config).map((origin) => new URL(origin).host);
  return endpoint === undefined || own.includes(new URL(endpoint.origin).host);
}

/**
 * Whether the platform that is asked is the one of the client's own file, so that the service itself believes its
 * metadata, once the issuer says the same. Over plain http a third party could have answered; but on this machine one
 * port may be reached with TLS and without.
 */
function isOwnPlatform({ endpoint }: ClientSettings, platformUrl: string | undefined): boolean {
  const url = platformUrl === undefined ? null : URL.parse(platformUrl);
  if (endpoint === undefined || url === null) return false;
  const isSafe = url.protocol === 'https:' || isLoopbackHost(url.hostname);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return isSafe && endpoint.host === url.hostname && endpoint.port === port;
}

/** The platform's origins by its own configuration. */
function listOwnOrigins({ publicUrl, auth }: Config): readonly string[] {
  return [publicUrl, ...auth.authorizedUris].flatMap((uri) => URL.parse(uri)?.origin ?? []);
}

/** Its secret is sent nowhere, and that is said. */
function toUntried(id: string, { block, file }: ClientSubject): Probe {
  return {
    id: `grants.${id}`,
    group: 'grants',
    title: `client credentials of ${block} of ${file}`,
    needs: [],
    run: () => skipped('the file names no tokenUrl; add --config'),
  };
}

function listServiceProbes(
  id: string,
  { settings, block, file }: ClientSubject,
  ground: Parameters<typeof createServiceGrantProbe>[3],
  subject: Subject,
  { issuer, discovery, host, headers, gate }: GrantRoots,
  isFirst: boolean,
): readonly Probe[] {
  const scopes = settings?.scopes ?? ['all'];
  const audience = settings?.audience ?? '';
  const form = {
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    ...(audience === '' ? {} : { audience }),
  };
  const title = `client credentials of ${block} of ${file}`;
  const grant = createServiceGrantProbe(id, title, form, ground, subject.now);
  const config = subject.server?.loaded.config;
  const token = createTokenProbe(id, { token: grant, issuer, discovery, config });
  if (headers === undefined || host === undefined) return [grant, token];
  const origins = [
    ...(settings?.endpoint === undefined ? [] : [settings.endpoint.origin]),
    ...(config === undefined ? [] : listOwnOrigins(config)),
  ];
  const door = { header: headers.read, ready: host.ready, origins };
  const admission = createAdmissionProbe(id, token, door, ground.ask);
  if (gate === undefined || !isFirst) return [grant, token, admission];
  const verdict = {
    token,
    admission,
    closed: gate.closed,
    header: headers.read,
    ready: host.ready,
  };
  return [grant, token, admission, createSharedVerdictProbe(verdict, ground.ask)];
}

function listNativeProbes({ discovery, metadata }: GrantRoots, ask: Ask): readonly Probe[] {
  if (metadata === undefined) return [];
  const native: Probe<NativeApp> = {
    id: 'grants.native',
    group: 'grants',
    title: 'the native app',
    needs: [metadata.read],
    run: (answers) => found(answers.get(metadata.read)),
  };
  return [
    native,
    ...createNativeAuthorizationProbes(native, discovery, ask),
    createDeviceGrantProbe(native, discovery, ask),
  ];
}

/** From the address of a token endpoint to one that can be spoken to. */
function createEndpointProbes(
  {
    tokenUrl,
    confirmed,
  }: { readonly tokenUrl: string; readonly confirmed?: Probe<PlatformMetadata> },
  at: number,
  { discovery, issuerHost }: GrantRoots,
  { now, server }: Subject,
  network: Network,
): { readonly all: readonly Probe[]; readonly ready: Probe<string> } {
  const id = at === 0 ? 'token' : `token.${at + 1}`;
  const address: Probe<URL> = {
    id: `${id}.address`,
    group: 'config',
    title: 'the address of the token endpoint',
    needs: confirmed === undefined ? (tokenUrl === '' ? [discovery] : []) : [confirmed],
    run(answers) {
      if (confirmed !== undefined) return found(new URL(answers.get(confirmed).tokenEndpoint));
      const url = tokenUrl === '' ? (answers.get(discovery).token_endpoint ?? '') : tokenUrl;
      return found(new URL(url));
    },
  };
  const setting =
    tokenUrl === '' ? "the issuer's token_endpoint" : 'union.auth.tokenUrl (AUTH_TOKEN_URL)';
  const place = { id, name: 'the token endpoint', address, setting };
  const hosts = createHostProbes(place, network, now, issuerHost);
  const ready: Probe<string> = {
    id: `${id}.ready`,
    group: 'http',
    title: 'the token endpoint',
    needs: [hosts.ready],
    after: [discovery],
    run(answers) {
      const url = answers.get(hosts.ready).href;
      const named = answers.find(discovery)?.token_endpoint;
      return found(url, compareEndpoints(url, named, server !== undefined));
    },
  };
  return { all: [address, ...hosts.all, ready], ready };
}

/** One of two that differ may be another name of the same server, inside the cluster. */
function compareEndpoints(
  url: string,
  named: string | undefined,
  isConfigured: boolean,
): readonly Finding[] {
  if (named === undefined || !isConfigured || new URL(named).href === url) return [];
  return [
    warn(
      'token_url_differs',
      `the configured token endpoint is not the one of the issuer: configured ${url}, found ${named}`,
      `Set AUTH_TOKEN_URL to ${named}, unless it is another name of the same server.`,
    ),
  ];
}
