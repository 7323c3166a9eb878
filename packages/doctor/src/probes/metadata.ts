/**
 * Metadata for clients: served without a credential, and saying what is configured.
 *
 * @module
 */

import { createMetadataClient, type PlatformMetadata, parseEndpoint } from '@sallyport/client';
import type { Config } from '@sallyport/config';
import { DEFAULT_AUTHORIZATION_HEADER, PATHS } from '@sallyport/protocol';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { broken, found, type Outcome, type Probe } from '../graph/probe.ts';
import { type Answer, type Ask, describeAnswer, isPage } from '../network/exchange.ts';

/** The probes, and those that others need. */
export interface MetadataProbes {
  readonly all: readonly Probe[];
  readonly read: Probe<PlatformMetadata>;
}

/** How each of the two questions is asked, newest platform first. */
const SERVICES = ['flyteidl2.auth.AuthMetadataService', 'flyteidl.service.AuthMetadataService'];
const METHODS = ['GetPublicClientConfig', 'GetOAuth2Metadata'];
const NOT_SERVED: ReadonlySet<number> = new Set([404, 405, 415, 501]);

/**
 * Makes `metadata.open`, `metadata.read` and `metadata.configured`.
 *
 * @param routes - Without sign-in there is no metadata either.
 * @param config - What the metadata is compared with; absent for a platform whose configuration is not at hand.
 */
export function createMetadataProbes(
  { ready, routes }: { readonly ready: Probe<URL>; readonly routes: Probe },
  ask: Ask,
  fetch: typeof globalThis.fetch,
  config: Config | undefined,
): MetadataProbes {
  const open: Probe = {
    id: 'metadata.open',
    group: 'metadata',
    title: 'metadata for clients without a credential',
    needs: [ready, routes],
    run: (answers) => judgeOpen(answers.get(ready).origin, ask),
  };
  const read: Probe<PlatformMetadata> = {
    id: 'metadata.read',
    group: 'metadata',
    title: 'metadata for clients',
    needs: [ready, open],
    run: (answers) => readMetadata(answers.get(ready), false, fetch, config),
  };
  const configured: Probe = {
    id: 'metadata.configured',
    group: 'metadata',
    title: 'metadata beside the configuration',
    needs: [read],
    run: (answers) => found(undefined, comparePublished(answers.get(read), config)),
  };
  return { all: [open, read, configured], read };
}

/**
 * Makes `metadata.confirmed`: the metadata, once its issuer has said the same. Only then does a client that has no
 * endpoint configured send a secret to the one in it.
 */
export function createConfirmationProbe(
  { ready, read, discovery }: Record<'ready', Probe<URL>> & Record<'read' | 'discovery', Probe>,
  fetch: typeof globalThis.fetch,
  config: Config | undefined,
): Probe<PlatformMetadata> {
  return {
    id: 'metadata.confirmed',
    group: 'metadata',
    title: 'metadata for clients beside the issuer',
    needs: [ready, read, discovery],
    run: (answers) => readMetadata(answers.get(ready), true, fetch, config),
  };
}

/** As the client does it. */
async function readMetadata(
  url: URL,
  confirms: boolean,
  fetch: typeof globalThis.fetch,
  config: Config | undefined,
): Promise<Outcome<PlatformMetadata>> {
  const endpoint = parseEndpoint(url.origin, false);
  const plain = endpoint.ok ? endpoint : parseEndpoint(url.host, true);
  if (!plain.ok) return broken(toInvalid(url.origin, 'its address is none of a platform'));
  const dangerouslyAllowPlainHttpTo = config?.dangerouslyAllowPlainHttpTo ?? [];
  const options = { endpoint: plain.value, fetch, confirms, dangerouslyAllowPlainHttpTo };
  try {
    return found(await createMetadataClient(options).read());
  } catch (error) {
    return broken(toInvalid(url.origin, error instanceof Error ? error.message : ''));
  }
}

async function judgeOpen(origin: string, ask: Ask): Promise<Outcome<true>> {
  const asked = [
    ...SERVICES.flatMap((service) =>
      METHODS.map((method) => ({ path: `/${service}/${method}`, isRpc: true })),
    ),
    { path: PATHS.authorizationServer, isRpc: false },
    { path: PATHS.clientConfig, isRpc: false },
  ];
  const answers = await Promise.all(
    asked.map(async ({ path, isRpc }) => ({
      path,
      answer: await ask(origin + path, isRpc ? RPC : { headers: { accept: 'application/json' } }),
    })),
  );
  const closed: { readonly path: string; readonly answer: Answer }[] = [];
  const failing: Answer[] = [];
  let served = 0;
  for (const { path, answer } of answers) {
    if (!answer.ok) continue;
    const { status } = answer.value;
    if (isBehindSignIn(answer.value)) closed.push({ path, answer: answer.value });
    else if (status === 200) served += 1;
    else if (status >= 500 && !NOT_SERVED.has(status)) failing.push(answer.value);
  }
  if (closed.length > 0) {
    const finding = fail(
      'metadata_behind_sign_in',
      `metadata for clients sits behind the auth subrequest: ${closed[0]?.path} wants a credential, so SDK and command line get 401`,
      'Route AuthMetadataService, /.well-known and /config through the unprotected ingress, without auth-url.',
      closed.map(({ answer }) => describeAnswer(answer)),
    );
    return served === 0 ? broken(finding) : found(true, [finding]);
  }
  const [first] = failing;
  if (first !== undefined)
    return broken(
      fail(
        'metadata_unavailable',
        'the platform has no metadata for clients now: it does not reach its identity provider, or does not believe it',
        'Look for idp_unreachable or idp_misbehaving in the log of the admin service, and run the doctor there.',
        failing.map(describeAnswer),
      ),
    );
  if (served === 0)
    return broken(
      fail(
        'metadata_not_served',
        'no metadata for clients is served: SDK and command line cannot learn where to sign in',
        'Route AuthMetadataService, /.well-known and /config to the admin service.',
        answers.flatMap(({ answer }) => (answer.ok ? [describeAnswer(answer.value)] : [])),
      ),
    );
  return found(true);
}

const RPC: RequestInit = {
  method: 'POST',
  headers: {
    accept: 'application/json',
    'content-type': 'application/json',
    'connect-protocol-version': '1',
  },
  body: '{}',
};

function isBehindSignIn(answer: Answer): boolean {
  const { status } = answer;
  if ((status >= 300 && status < 400) || status === 401 || status === 403) return true;
  return status === 200 && isPage(answer);
}

/**
 * Compares what is published with what is configured; each difference under the setting to correct. The issuer is compared by
 * `createPublishedIssuerProbe`.
 */
function comparePublished(
  metadata: PlatformMetadata,
  config: Config | undefined,
): readonly Finding[] {
  const { authorizationHeader } = metadata;
  const findings: Finding[] = [];
  if (authorizationHeader !== (config?.auth.grpcAuthorizationHeader ?? authorizationHeader))
    findings.push(
      toDifference(
        'header_name_differs',
        'bearer header',
        'auth.grpcAuthorizationHeader',
        config?.auth.grpcAuthorizationHeader ?? '',
        authorizationHeader,
      ),
    );
  else if (authorizationHeader !== DEFAULT_AUTHORIZATION_HEADER)
    findings.push(
      warn(
        'header_name_differs',
        `the platform reads bearer tokens from ${authorizationHeader}, not from ${DEFAULT_AUTHORIZATION_HEADER}: a client that does not ask for the name gets 401`,
        `Set auth.grpcAuthorizationHeader and auth.httpAuthorizationHeader to ${DEFAULT_AUTHORIZATION_HEADER}, or the same other name at every client.`,
        [`authorization_metadata_key: ${authorizationHeader}`],
      ),
    );
  if (config === undefined) return findings;
  const { thirdPartyConfig } = config.auth.appAuth;
  const pairs = [
    [
      'metadata_client_differs',
      'client ID of the native app',
      'auth.appAuth.thirdPartyConfig.flyteClient.clientId',
      thirdPartyConfig.flyteClient.clientId,
      metadata.clientId,
    ],
    [
      'metadata_redirect_differs',
      'redirect address of the native app',
      'auth.appAuth.thirdPartyConfig.flyteClient.redirectUri',
      thirdPartyConfig.flyteClient.redirectUri,
      metadata.redirectUri,
    ],
  ] as const;
  for (const [code, what, key, configured, published] of pairs)
    if (configured !== published)
      findings.push(toDifference(code, what, key, configured, published));
  return findings;
}

/** A published value that is not the configured one. */
export function toDifference(
  code:
    | 'header_name_differs'
    | 'metadata_client_differs'
    | 'metadata_issuer_differs'
    | 'metadata_redirect_differs',
  what: string,
  key: string,
  configured: string,
  published: string,
): Finding {
  return fail(
    code,
    `the platform publishes another ${what} than this configuration has: configured ${configured}, published ${published}`,
    `Set ${key} to the same on both sides, and reload or restart the admin service; compare that this is its configuration.`,
    [`${key}: ${configured}`, `published: ${published}`],
  );
}

function toInvalid(origin: string, message: string): Finding {
  return fail(
    'metadata_invalid',
    `the metadata that ${origin} publishes for clients cannot be used`,
    'Correct auth.appAuth of the admin service; every endpoint in it is https.',
    [message],
  );
}
