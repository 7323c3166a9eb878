/**
 * A client of the platform: settings, metadata, grant and tokens put together.
 *
 * @module
 */

import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import { createAuthenticatedFetch } from './attach/authenticated-fetch.ts';
import type { Grant, GrantOptions, TokenRefusal } from './grant.ts';
import {
  type ClientAuthentication,
  clientSecretBasic,
  publicClient,
} from './grants/client-authentication.ts';
import { createLazyGrant } from './grants/lazy-grant.ts';
import type { InteractivePorts, SecretPorts } from './grants/ports.ts';
import { type Revocation, revokeTokens } from './grants/revocation.ts';
import { describeSubject, isForPeople, needsMetadata, selectGrant } from './grants/select-grant.ts';
import { createMetadataClient } from './metadata/create-metadata-client.ts';
import type { PlatformMetadata } from './platform-metadata.ts';
import { readClientSecret } from './settings/client-secret.ts';
import type { ClientSettings } from './settings/client-settings.ts';
import {
  createServiceTokenSource,
  type ServiceTokenSource,
  type ServiceTokenSourceOptions,
  type ServiceTokenStatus,
} from './source/create-service-token-source.ts';
import { createTokenSource, type TokenSourceOptions } from './source/create-token-source.ts';
import { guardCallback } from './source/guarded-callback.ts';
import type { TokenSet } from './token-set.ts';
import type { TokenSource } from './token-source.ts';
import type { TokenKey } from './token-store.ts';

/** Everything a client needs of the world outside. */
export interface ClientPorts
  extends InteractivePorts,
    SecretPorts,
    Pick<
      TokenSourceOptions,
      'openStore' | 'lock' | 'keep' | 'mayInteract' | 'lockWaitMs' | 'onOutage'
    >,
    Pick<ServiceTokenSourceOptions, 'schedule' | 'random' | 'startSpreadMs' | 'onTokens'> {
  /**
   * Whether tokens are refreshed in the background, ahead of need, as a program needs that runs for months. By
   * default only with settings of a service's block. Without a meaning for people, whose grants are never
   * repeated unasked. Tokens are then kept in the store if there is one, unless `keep` is `memory`.
   */
  readonly refreshesAhead?: boolean;
  /**
   * What was read from the platform in an earlier run. It finds kept tokens and names the header, so
   * that a good token costs no request; a grant asks the platform anew.
   */
  readonly metadataCache?: {
    /** @returns `undefined` when there is none. */
    read(origin: string): Promise<PlatformMetadata | undefined>;
    /** May fail, which goes to `onOutage`. */
    write(origin: string, metadata: PlatformMetadata): Promise<void>;
  };
}

/** A client of one platform. Sends no request before it is needed. */
export interface Client {
  /** Safe to share. */
  readonly tokenSource: TokenSource;
  /** Attaches the token to requests to the platform, and to no others. */
  readonly fetch: typeof fetch;
  /**
   * Header a token travels in: the setting, else that of the platform's metadata.
   *
   * @throws {SallyportError} `SP_PLATFORM_UNREACHABLE`, `SP_PLATFORM_PROTOCOL`.
   */
  authorizationHeader(): Promise<string>;
  /** The platform's metadata; fetched once. Throws as {@link authorizationHeader}. */
  metadata(): Promise<PlatformMetadata>;
  /** What a service knows of its token; `undefined` where tokens are not refreshed ahead. */
  tokenStatus(): ServiceTokenStatus | undefined;
  /** Ends the refresh in the background, and with it the use of {@link tokenSource}; nothing for others. */
  close(): void;
  /** What its tokens are kept under. Throws as {@link authorizationHeader}. */
  tokenKey(): Promise<TokenKey>;
  /** The grant itself, for a sign-in whatever tokens are kept. Throws as {@link authorizationHeader}. */
  grant(): Promise<Grant>;
  /**
   * Gives tokens back to the identity provider (RFC 7009). Kept copies are the caller's to remove.
   *
   * @throws {SallyportError} Also `SP_IDP_UNREACHABLE`, `SP_IDP_PROTOCOL`.
   */
  revoke(tokens: TokenSet, options?: GrantOptions): Promise<Result<Revocation, TokenRefusal>>;
}

/**
 * Creates a client.
 *
 * @param settings - From `loadClientSettings`. With `isEnabled` false nothing is obtained or attached.
 * @param ports - Its `fetch` MUST honour `caCertFilePath` and `insecureSkipVerify` of the settings.
 */
export function createClient(settings: ClientSettings, ports: ClientPorts): Client {
  const { endpoint, isEnabled, dangerouslyAllowPlainHttpTo } = settings;
  const origin = endpoint?.origin ?? '';
  const asked =
    endpoint === undefined
      ? undefined
      : createMetadataClient({
          endpoint,
          fetch: ports.fetch,
          confirms: settings.tokenUrl === '',
          dangerouslyAllowPlainHttpTo,
        });
  const knownMetadata = once(recallOrRead);
  const grant = once(async () =>
    selectGrant(settings, needsMetadata(settings) ? await readMetadata() : undefined, ports),
  );
  const composed = once(compose);
  const ahead = refreshesAhead(settings, ports)
    ? createAhead(settings, ports, composed)
    : undefined;
  const onDemand = once(async () => createOnDemand(settings, ports, await composed()));
  const tokenSource = isEnabled ? (ahead ?? createLazySource(onDemand)) : DISABLED_SOURCE;
  const authorizationHeader = async (): Promise<string> =>
    settings.authorizationHeader === ''
      ? (await knownMetadata()).authorizationHeader
      : settings.authorizationHeader;
  return {
    tokenSource,
    fetch: selectFetch(),
    authorizationHeader,
    metadata: readMetadata,
    tokenStatus: () => ahead?.status(),
    close: () => ahead?.close(),
    tokenKey: async () => (await composed()).key,
    grant,
    revoke,
  };

  async function readMetadata(): Promise<PlatformMetadata> {
    if (asked === undefined) throw noEndpoint();
    const metadata = await asked.read();
    // Not being able to remember is no reason to fail.
    await ports.metadataCache
      ?.write(origin, metadata)
      .catch(guardCallback('onOutage', ports.onOutage));
    return metadata;
  }

  async function recallOrRead(): Promise<PlatformMetadata> {
    const recalled = await ports.metadataCache?.read(origin);
    return recalled ?? (await readMetadata());
  }

  /** Whether the platform still names the issuer and the token endpoint that kept tokens are of; what it named before is remembered. */
  async function isSameIssuer(): Promise<boolean> {
    if (!needsMetadata(settings)) return true;
    const [{ key }, metadata] = await Promise.all([composed(), readMetadata()]);
    const { tokenEndpoint } = describeSubject(settings, metadata);
    return metadata.issuer === key.issuer && tokenEndpoint === key.tokenEndpoint;
  }

  async function compose(): Promise<Composed> {
    const metadata = needsMetadata(settings) ? await knownMetadata() : undefined;
    return {
      key: toTokenKey(settings, metadata, origin),
      grant: createLazyGrant(settings, grant, isSameIssuer),
    };
  }

  function selectFetch(): typeof fetch {
    if (!isEnabled) return ports.fetch;
    if (endpoint === undefined) return () => Promise.reject(noEndpoint());
    return createAuthenticatedFetch({
      fetch: ports.fetch,
      source: tokenSource,
      endpoint: origin,
      header: authorizationHeader,
      dangerouslyAllowPlainHttp: endpoint.isInsecure,
    });
  }

  async function revoke(
    tokens: TokenSet,
    options?: GrantOptions,
  ): Promise<Result<Revocation, TokenRefusal>> {
    const metadata = await readMetadata();
    const authentication = authenticate(settings, metadata, ports);
    if (!authentication.ok) return authentication;
    const { issuer, revocationEndpoint } = metadata;
    // Another issuer must not get this one's tokens.
    if (!(await isSameIssuer())) return accept('not_offered');
    const { tokenEndpoint } = describeSubject(settings, metadata);
    const request = {
      issuer,
      tokenEndpoint,
      revocationEndpoint,
      authentication: authentication.value,
      dangerouslyAllowPlainHttpTo,
    };
    return await revokeTokens(request, tokens, ports.fetch, options);
  }
}

function createLazySource(open: () => Promise<TokenSource>): TokenSource {
  return {
    get: async (options) => await (await open()).get(options),
    replace: async (refused, options) => await (await open()).replace(refused, options),
  };
}

const DISABLED_SOURCE: TokenSource = {
  get: async () => refuse(disabled()),
  replace: async () => refuse(disabled()),
};

/** What tokens are kept under, and what obtains them. */
interface Composed {
  readonly key: TokenKey;
  readonly grant: Grant;
}

function createOnDemand(
  { refreshWindowMs }: ClientSettings,
  ports: ClientPorts,
  composed: Composed,
): TokenSource {
  const { openStore, lock, keep, mayInteract, lockWaitMs, onOutage, now } = ports;
  return createTokenSource({
    ...composed,
    now,
    refreshWindowMs,
    ...(openStore === undefined ? {} : { openStore }),
    ...(lock === undefined ? {} : { lock }),
    ...(keep === undefined ? {} : { keep }),
    ...(mayInteract === undefined ? {} : { mayInteract }),
    ...(lockWaitMs === undefined ? {} : { lockWaitMs }),
    ...(onOutage === undefined ? {} : { onOutage }),
  });
}

function createAhead(
  { refreshWindowMs }: ClientSettings,
  ports: ClientPorts,
  compose: () => Promise<Composed>,
): ServiceTokenSource {
  const { openStore, lock, keep, lockWaitMs, onOutage, now, wait } = ports;
  const { schedule, random, startSpreadMs, onTokens } = ports;
  return createServiceTokenSource({
    compose,
    now,
    wait,
    refreshWindowMs,
    ...(openStore === undefined || keep === 'memory' ? {} : { openStore }),
    ...(lock === undefined ? {} : { lock }),
    ...(lockWaitMs === undefined ? {} : { lockWaitMs }),
    ...(onOutage === undefined ? {} : { onOutage }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(random === undefined ? {} : { random }),
    ...(startSpreadMs === undefined ? {} : { startSpreadMs }),
    ...(onTokens === undefined ? {} : { onTokens }),
  });
}

function refreshesAhead(settings: ClientSettings, ports: ClientPorts): boolean {
  return (ports.refreshesAhead ?? settings.isService) && !isForPeople(settings.authType);
}

/** What the tokens are kept under. Without metadata the token endpoint stands for the issuer. */
function toTokenKey(
  settings: ClientSettings,
  metadata: PlatformMetadata | undefined,
  endpoint: string,
): TokenKey {
  const { clientId, scopes, audience, tokenEndpoint } = describeSubject(settings, metadata);
  const issuer = metadata?.issuer ?? tokenEndpoint;
  return { issuer, tokenEndpoint, endpoint, clientId, scopes, audience };
}

/** How the client proves itself where it gives tokens back; a person's client is public. */
function authenticate(
  { authType, clientId, clientSecret }: ClientSettings,
  metadata: PlatformMetadata,
  { onWarning }: SecretPorts,
): Result<ClientAuthentication, TokenRefusal> {
  if (clientSecret === undefined || isForPeople(authType))
    return accept(publicClient(metadata.clientId));
  const secret = readClientSecret(clientSecret, onWarning);
  return secret.ok ? accept(clientSecretBasic(clientId, secret.value)) : secret;
}

/** Calls once and shares the outcome; after a failure the next call tries again. */
function once<T>(call: () => Promise<T>): () => Promise<T> {
  let outcome: Promise<T> | undefined;
  return () => {
    outcome ??= call().catch((error: unknown) => {
      outcome = undefined;
      throw error;
    });
    return outcome;
  };
}

function disabled(): TokenRefusal {
  return {
    error: 'auth_disabled',
    description: 'union.auth.enable is false, so no token is obtained.',
    hint: 'Set it to true: without a token internal services receive 401.',
  };
}

function noEndpoint(): SallyportError {
  return new SallyportError('SP_CONFIG_INVALID', {
    component: 'client',
    detail: 'admin.endpoint is needed and not set',
  });
}
