/**
 * A platform's functions, composed from the client library for commands that end soon.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  type ClientPorts,
  type ClientSettings,
  createClient,
  createFileTokenLock,
  forgetTokens,
  type GrantKind,
  type LoadedClientSettings,
  type PlatformMetadata,
  type TokenStore,
  type TokenStoreChoice,
  tokenKeyId,
} from '@sallyport/client';
import { formatConfigProblem } from '@sallyport/config';
import { nameCachedLogin, readCachedLogin, writeCachedLogin } from '../profile/cached-login.ts';
import type { SelectedProfile } from '../profile/profile.ts';
import { nameSources, type Sources } from '../profile/sources.ts';
import { createLazyGrant } from './lazy-grant.ts';
import { writeLoginCommand } from './login-command.ts';
import type { DiscoveredPlatform, Platform } from './platform.ts';
import { showSettings } from './show-settings.ts';
import type { PersonPorts } from './sign-in.ts';
import { openStore } from './token-store.ts';

/** What the platform is made of. */
export interface PlatformParts {
  readonly profile: SelectedProfile;
  readonly loaded: LoadedClientSettings;
  readonly storeChoice: TokenStoreChoice;
  readonly fetch: typeof fetch;
  /** Hears of what weakens while tokens are obtained. */
  readonly warn: (sentence: string) => void;
}

/** Another process refreshes in less, or is stuck. */
const LOCK_WAIT_MS = 20_000;

const GRANT_KINDS: Readonly<Record<ClientSettings['authType'], GrantKind>> = {
  Pkce: 'pkce',
  DeviceFlow: 'device_code',
  ClientSecret: 'client_credentials',
  ApiKey: 'client_credentials',
  ExternalCommand: 'external_command',
  ServiceAccountToken: 'service_account_token',
};

/** Composes. Nothing is asked, opened or read here. */
export function createPlatform(parts: PlatformParts, sources: Sources): Platform {
  const { profile, loaded, storeChoice, fetch, warn } = parts;
  const { settings } = loaded;
  const { environment, folders } = sources;
  const endpoint = settings.endpoint?.origin ?? '';
  const grantKind = GRANT_KINDS[settings.authType];
  const isPersonal = grantKind === 'pkce' || grantKind === 'device_code';
  const lock = createFileTokenLock({ folder: folders.tokens, now: Date.now });
  const name = nameCachedLogin({ endpoint, profile: profile.name, ...keyParts(settings) });
  let store: Promise<TokenStore> | undefined;
  let say: ((sentence: string) => void) | undefined;
  const open = (): Promise<TokenStore> => {
    store ??= openStore(storeChoice, folders.tokens, (sentence) => say?.(sentence));
    return store;
  };
  const ports: ClientPorts = {
    fetch,
    now: Date.now,
    wait: (ms, signal) => sleep(ms, undefined, { signal }),
    show: () => {},
    onWarning: (warning) => warn(formatConfigProblem(warning)),
    openStore: open,
    lock,
    lockWaitMs: LOCK_WAIT_MS,
    mayInteract: false,
  };
  const grant = (authType: 'Pkce' | 'DeviceFlow') => (person: PersonPorts) =>
    createLazyGrant(GRANT_KINDS[authType], () =>
      createClient({ ...settings, authType }, { ...ports, ...person }).grant(),
    );

  return {
    profile,
    environment,
    endpoint,
    grantKind,
    isPersonal,
    loginCommand: writeLoginCommand(sources.options),
    settings: showSettings(loaded),
    warnings: loaded.warnings.map(formatConfigProblem),
    openStore: open,
    async discover(signal) {
      const client = createClient(settings, ports);
      return orAborted(describe(client, isPersonal ? await client.metadata() : undefined), signal);
    },
    async readCachedLogin() {
      const known = readCachedLogin(folders.cachedLogins, name);
      if (known === undefined) return undefined;
      const metadataCache = { read: async () => known.metadata, write: async () => {} };
      const client = createClient(settings, { ...ports, metadataCache });
      return { ...(await describe(client, known.metadata)), flow: known.flow };
    },
    async prepareToKeep({ key }, signal) {
      const lease = await lock.acquire(tokenKeyId(key), { waitMs: LOCK_WAIT_MS, signal });
      lease.release();
    },
    async keep({ key }, tokens, notice) {
      say = notice;
      await (await open()).write(key, tokens);
    },
    forget: async ({ key }, signal) =>
      forgetTokens(key, await open(), lock, { waitMs: LOCK_WAIT_MS, signal }),
    async writeCachedLogin({ key, header, metadata }, names, flow) {
      const { kind } = await open();
      if (metadata === undefined || kind === 'memory') return;
      writeCachedLogin(folders.cachedLogins, [name, nameSources(sources), ...names], {
        key,
        header,
        metadata,
        store: kind,
        refreshWindowMs: settings.refreshWindowMs,
        flow: flow ?? readCachedLogin(folders.cachedLogins, name)?.flow,
      });
    },
    grantsOf: ({ metadata }) => ({
      pkce: grant('Pkce'),
      ...((metadata?.deviceAuthorizationEndpoint ?? '') === ''
        ? {}
        : { deviceCode: grant('DeviceFlow') }),
    }),
  };
}

async function describe(
  client: Client,
  metadata: PlatformMetadata | undefined,
): Promise<DiscoveredPlatform> {
  const [key, header] = await Promise.all([client.tokenKey(), client.authorizationHeader()]);
  return { client, key, header, metadata };
}

/** Settings that decide which tokens are this client's. */
function keyParts(settings: ClientSettings): Readonly<Record<string, string>> {
  return {
    clientId: settings.clientId,
    scopes: settings.scopes?.join(' ') ?? '',
    audience: settings.audience,
    header: settings.authorizationHeader,
  };
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
