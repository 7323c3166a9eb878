/**
 * The embedded development IdP: a certified OpenID provider with two users, in this process.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { SallyportError } from '@sallyport/protocol';
import type { ApiKeyIssuer } from '../api-keys/api-key-issuer.ts';
import {
  ACCESS_TOKEN_SECONDS,
  createIdpSpec,
  type IdpClientIds,
  type IdpSpec,
} from '../spec/idp-spec.ts';
import { type AdminEndpoint, createAdminEndpoint } from './api-keys/admin-endpoint.ts';
import { openClientRegistry } from './api-keys/client-registry.ts';
import { createHttpHandler } from './http-handler.ts';
import { createInteractionRoute } from './interaction.ts';
import type { LogIdpEvent } from './log-event.ts';
import { createMemoryStore } from './memory-adapter.ts';
import { createProvider } from './provider.ts';
import { logProviderEvents } from './provider-events.ts';
import { ROUTES } from './routes.ts';
import { createSignInLimiter } from './sign-in-limiter.ts';
import { keepSigningKey } from './signing-key.ts';
import { createSecret, openStateDirectory } from './state-directory.ts';
import { keepUsers, PASSWORDS_FILE, type SeededUser } from './users.ts';

/** Settings of {@link createEmbeddedIdp}. */
export interface EmbeddedIdpOptions {
  /** Origin that the caller will listen on, `http://127.0.0.1:8081` for instance; without a path. */
  readonly issuer: string;
  /** The deployment's public URL; redirect URIs are made from it byte for byte. */
  readonly publicUrl: string;
  /** Where secrets, passwords and keys are kept; created with mode 0700. */
  readonly stateDirectory: string;
  readonly clientIds: IdpClientIds;
  /** Seeded user who is signed in without a page. */
  readonly signInAs?: string;
  /**
   * Whether the native application gets a refresh token with the scope `offline_access`. Off when
   * absent: the requirement's row does not name the grant.
   */
  readonly nativeRefreshTokens?: boolean;
  /**
   * Seconds for which a refresh token that was used already may be used again: for clients whose
   * answer was lost. 0 when absent; a later use revokes everything of its sign-in.
   */
  readonly refreshTokenLeewaySeconds?: number;
  /** Lifetime of access tokens in whole seconds, at least 1; an hour when absent. */
  readonly accessTokenTtlSeconds?: number;
  /**
   * Where the web application publishes its keys, on the loopback. It then proves itself by
   * `private_key_jwt` (RFC 7523) and its secret is refused. Absent: by its secret.
   */
  readonly webJwksUri?: string;
  /** Whether every authorization request has to be pushed (RFC 9126). Off when absent: it may be. */
  readonly requirePushedAuthorization?: boolean;
  /**
   * Reaches the applications: their keys, and the web application to notify it of ended sessions.
   * Node's own when absent, which trusts no authority of one's own.
   */
  readonly fetch?: typeof fetch;
  /**
   * Capability that admits to the administration of API key clients over HTTP: at least 32 random characters. Absent:
   * there is no such endpoint.
   */
  readonly adminToken?: string;
  readonly log: LogIdpEvent;
  /** Current time in epoch milliseconds. */
  readonly now?: () => number;
}

/** A running IdP; the caller owns the listener. */
export interface EmbeddedIdp {
  /** Answers every request of the issuer's origin. For `node:http`. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly spec: IdpSpec;
  /** Token endpoint; the deployment variable `AUTH_TOKEN_URL`. */
  readonly tokenUrl: string;
  /** File that holds the web application's secret and nothing else. */
  readonly webClientSecretFile: string;
  /** File that holds the service application's secret and nothing else. */
  readonly serviceClientSecretFile: string;
  /** File with one `<login> <password>` line for each user. */
  readonly passwordsFile: string;
  readonly users: readonly SeededUser[];
  /** The clients behind API keys, beside the three applications. They are kept over a restart. */
  readonly apiKeys: ApiKeyIssuer;
  /** Forgets sessions, codes, tokens and grants. */
  close(): void;
}

const WEB_SECRET_FILE = 'web-client-secret';
const SERVICE_SECRET_FILE = 'service-client-secret';
const COOKIE_KEY_FILE = 'cookie-key';
const ADMIN_TOKEN_MIN_LENGTH = 32;

/**
 * Creates the IdP of one deployment.
 *
 * Secrets, passwords and keys are made on the first start and read on the next; sessions, grants
 * and tokens live in memory.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` for settings or stored files that cannot be used,
 *   `SP_STORE_UNAVAILABLE` when the state directory cannot be read or written.
 */
export async function createEmbeddedIdp(options: EmbeddedIdpOptions): Promise<EmbeddedIdp> {
  const { now = Date.now, log, clientIds, issuer } = options;
  const { nativeRefreshTokens = false, refreshTokenLeewaySeconds = 0 } = options;
  const { accessTokenTtlSeconds = ACCESS_TOKEN_SECONDS } = options;
  const { webJwksUri, requirePushedAuthorization = false } = options;
  assertIssuer(issuer);
  assertSeconds('refreshTokenLeewaySeconds', refreshTokenLeewaySeconds, 0);
  assertSeconds('accessTokenTtlSeconds', accessTokenTtlSeconds, 1);
  const spec = createIdpSpec(options.publicUrl, clientIds, {
    nativeRefreshTokens,
    ...(webJwksUri === undefined ? {} : { webJwksUri }),
  });
  const directory = await openStateDirectory(options.stateDirectory);
  const [web, service, cookieKey, users, signingKey, apiKeys] = await Promise.all([
    directory.keep(WEB_SECRET_FILE, createSecret),
    directory.keep(SERVICE_SECRET_FILE, createSecret),
    directory.keep(COOKIE_KEY_FILE, createSecret),
    keepUsers(directory),
    keepSigningKey(directory),
    openClientRegistry(directory, now),
  ]);
  const chooseUser =
    options.signInAs === undefined
      ? undefined
      : (await import('./sign-in-as.ts')).createAutomaticSignIn(users, options.signInAs);

  const store = createMemoryStore(now, { refreshTokenLeewayMs: refreshTokenLeewaySeconds * 1_000 });
  const secrets = { web, service };
  const inputs = {
    spec,
    secrets,
    signingKey,
    cookieKey,
    users,
    store,
    apiKeys,
    accessTokenTtlSeconds,
    requirePushedAuthorization,
    fetch: options.fetch ?? fetch,
  };
  const provider = createProvider(issuer, inputs);
  logProviderEvents(provider, log);
  const logins = users.map(({ login }) => login);
  const limiter = createSignInLimiter(logins, now);
  provider.use(createInteractionRoute({ provider, spec, users, limiter, log, chooseUser }));

  return {
    handler: createHttpHandler(provider.callback(), {
      spec,
      clientIds,
      issuer,
      administrate: openAdministration(options, apiKeys),
    }),
    spec,
    tokenUrl: issuer + ROUTES.token,
    webClientSecretFile: directory.pathOf(WEB_SECRET_FILE),
    serviceClientSecretFile: directory.pathOf(SERVICE_SECRET_FILE),
    passwordsFile: directory.pathOf(PASSWORDS_FILE),
    users,
    apiKeys,
    close: () => store.clear(),
  };
}

function openAdministration(
  { adminToken, log }: EmbeddedIdpOptions,
  issuer: ApiKeyIssuer,
): AdminEndpoint | undefined {
  if (adminToken === undefined) return undefined;
  if (adminToken.length < ADMIN_TOKEN_MIN_LENGTH)
    throw new SallyportError('SP_CONFIG_INVALID', {
      component: 'idp',
      detail: `adminToken must have at least ${ADMIN_TOKEN_MIN_LENGTH} characters`,
    });
  return createAdminEndpoint({ issuer, token: adminToken, log });
}

function assertIssuer(issuer: string): void {
  const url = URL.parse(issuer);
  const isOrigin = url !== null && url.origin === issuer && /^https?:/.test(issuer);
  if (isOrigin) return;
  throw new SallyportError('SP_CONFIG_INVALID', {
    component: 'idp',
    detail: 'the issuer of the embedded IdP must be an origin such as http://127.0.0.1:8081',
  });
}

function assertSeconds(name: string, seconds: number, least: number): void {
  if (Number.isSafeInteger(seconds) && seconds >= least) return;
  throw new SallyportError('SP_CONFIG_INVALID', {
    component: 'idp',
    detail: `${name} must be a whole number of seconds, at least ${least}`,
  });
}
