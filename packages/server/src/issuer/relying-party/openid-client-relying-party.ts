/**
 * The relying party on `openid-client`.
 *
 * @module
 */

import { PATHS, refuse, SallyportError } from '@sallyport/protocol';
import * as oidc from 'openid-client';
import type { Schedule } from '../../time/schedule.ts';
import { createIdpFetch } from '../idp-fetch.ts';
import { createIssuers, type Issuers } from '../issuers.ts';
import { CLOCK_TOLERANCE_SECONDS } from '../jwt/claim-readers.ts';
import type { IssuerDocument } from '../metadata/authorization-server-document.ts';
import { IssuerMismatch } from '../metadata/issuer-mismatch.ts';
import {
  buildAuthorizationUrl,
  findPushProblem,
  type PushedAuthorization,
} from './authorization-request.ts';
import { type ClientCredential, createClientAuthentication } from './client-authentication.ts';
import type { RegisteredClient } from './client-refusal.ts';
import { exchangeCode } from './code-exchange.ts';
import { createIdpSignatures } from './idp-signatures.ts';
import { createLogoutTokenVerifier } from './logout-token-verifier.ts';
import { createRefreshGrant, type RefreshEndpoint } from './refresh-grant.ts';
import type { ExchangeRefusal, RelyingParty } from './relying-party.ts';
import { revokeRefreshToken } from './token-revocation.ts';

/** Settings and ports of {@link createRelyingParty}. */
export interface RelyingPartyOptions {
  /** `auth.userAuth.openId.baseUrl`, as configured: the issuer must name itself exactly so. */
  readonly issuer: string;
  readonly clientId: string;
  readonly credential: ClientCredential;
  /** Where the credential comes from, as {@link RegisteredClient} says it. */
  readonly proof?: string;
  readonly pushedAuthorization: PushedAuthorization;
  readonly scopes: readonly string[];
  /** The public origin; `redirect_uri` and the post-logout address are made from it. */
  readonly publicOrigin: string;
  /** Shared with the other parts that ask the same issuer; by default its own, which end with it. */
  readonly issuers?: Issuers;
  readonly fetch: typeof fetch;
  /** For refreshes, as `createPatientFetch` makes it. */
  readonly patientFetch: typeof fetch;
  readonly schedule: Schedule;
  readonly now: () => number;
  readonly onFailure: (cause: unknown) => void;
  readonly onReady: () => void;
}

const IDP_TIMEOUT_MS = 10_000;
/**
 * A refresh that was sent is carried out by an IdP that stood still as soon as it goes on, and its answer
 * holds the only token that works then: sent a second time it would end the grant.
 */
const REFRESH_TIMEOUT_MS = 600_000;
const IDP_BODY_MAX_BYTES = 1_048_576;

/**
 * Creates the relying party and begins to fetch the IdP's metadata.
 *
 * The id_token's signature is verified although it comes straight from the token endpoint: a proxy
 * in between, or a mix-up of issuers, must not decide who a person is. Metadata and keys are those of
 * `issuer/`; the library fetches neither.
 */
export function createRelyingParty(options: RelyingPartyOptions): RelyingParty {
  const { issuer, clientId, scopes, pushedAuthorization, publicOrigin, now, schedule } = options;
  const { onFailure, onReady } = options;
  const registered: RegisteredClient = {
    issuer,
    clientId,
    redirectUri: publicOrigin + PATHS.callback,
    scopes,
    proof: options.proof ?? 'its credential',
  };
  const client = createConfiguredClient(options);
  const idp = createIdpFetch({
    fetch: options.fetch,
    timeoutMs: IDP_TIMEOUT_MS,
    bodyMaxBytes: IDP_BODY_MAX_BYTES,
  });
  const issuers = options.issuers ?? createIssuers(options);
  const { metadata, keys } = issuers.of(issuer);
  let configured: oidc.Configuration | undefined;
  let refreshEndpoint: RefreshEndpoint | undefined;
  /** Why there is no metadata. */
  let lastFailure: unknown;
  const followed = metadata.follow({
    needs: ['authorization_endpoint', 'token_endpoint', 'jwks_uri'],
    findProblem: (document) => findPushProblem(document, pushedAuthorization),
    onFailure: (cause) => {
      lastFailure = cause;
      onFailure(cause);
    },
    onDocument: (document) => {
      configured = client.configure(document, fetchFromIdp);
      refreshEndpoint = client.toRefreshEndpoint(document, configured);
      onReady();
    },
  });
  keys.follow({ onFailure });
  const signatures = createIdpSignatures({ issuer, metadata: followed, keys, schedule });
  const closing = new AbortController();
  const refreshGrant = createRefreshGrant({
    client: registered,
    now,
    fetch: (url, init) =>
      idp.fetch(url, init, {
        fetch: options.patientFetch,
        timeoutMs: REFRESH_TIMEOUT_MS,
        signal: closing.signal,
      }),
    onFailure,
    findSignatureProblem: (idToken) => signatures.findProblem(idToken),
  });

  return {
    scopes,
    isReady: () => configured !== undefined,

    endSessionOrigin() {
      const endpoint = followed.current?.end_session_endpoint;
      return endpoint === undefined ? undefined : URL.parse(endpoint)?.origin;
    },

    async authorizationUrl(request) {
      const configuration = await needConfiguration();
      if (configuration === undefined) return refuse(explainNoMetadata(lastFailure));
      const own = { client: registered, pushedAuthorization, now };
      return buildAuthorizationUrl(configuration, request, own);
    },

    async exchange(callback, checks) {
      const configuration = await needConfiguration();
      if (configuration === undefined) return refuse(explainNoMetadata(lastFailure));
      const own = { client: registered, now, keys, signatures };
      return exchangeCode(configuration, callback, checks, own);
    },

    async endSessionUrl({ idToken, state }) {
      const configuration = configured;
      if (configuration?.serverMetadata().end_session_endpoint === undefined) return undefined;
      return oidc.buildEndSessionUrl(configuration, {
        client_id: clientId,
        post_logout_redirect_uri: publicOrigin + PATHS.logout,
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
        ...(state === undefined ? {} : { state }),
      });
    },

    async refresh(tokens, principal) {
      await followed.need();
      if (refreshEndpoint === undefined) {
        const cause = new SallyportError('SP_IDP_UNREACHABLE', {
          component: 'idp',
          detail: 'no metadata of the IdP',
          retryAfterSeconds: 5,
        });
        return refuse({ reason: 'unreachable', cause });
      }
      return refreshGrant(refreshEndpoint, tokens, principal);
    },

    revoke: (refreshToken) => revokeRefreshToken(configured, refreshToken, { schedule, onFailure }),

    verifyLogoutToken: createLogoutTokenVerifier({ clientId, now, keys, metadata: followed }),

    close() {
      // A connection that is listened to would keep the process.
      closing.abort(new Error('the relying party is closed'));
      if (options.issuers === undefined) issuers.close();
    },
  };

  async function needConfiguration(): Promise<oidc.Configuration | undefined> {
    await followed.need();
    return configured;
  }

  async function fetchFromIdp(url: string, init: oidc.CustomFetchOptions): Promise<Response> {
    const response = await idp.fetch(url, init as RequestInit);
    await signatures.verifyAnswer(response);
    return response;
  }
}

/** Without metadata nothing can be asked of the IdP. A wrong issuer does not go away by waiting. */
function explainNoMetadata(lastFailure: unknown): ExchangeRefusal {
  return lastFailure instanceof IssuerMismatch
    ? { reason: 'misconfigured', detail: `issuer: ${lastFailure.detail}` }
    : { reason: 'idp_unreachable', cause: lastFailure };
}

/** The client as it is registered at the IdP, joined with the IdP's metadata into what the libraries take. */
interface ConfiguredClient {
  configure(document: IssuerDocument, fetchFromIdp: oidc.CustomFetch): oidc.Configuration;
  /** The server and the client as `configuration` has them; userinfo is fetched as after a sign-in. */
  toRefreshEndpoint(document: IssuerDocument, configuration: oidc.Configuration): RefreshEndpoint;
}

function createConfiguredClient({
  clientId,
  credential,
}: Pick<RelyingPartyOptions, 'clientId' | 'credential'>): ConfiguredClient {
  const authenticateClient = createClientAuthentication(credential);
  const client = { client_id: clientId, [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
  return {
    configure(document, fetchFromIdp) {
      const configuration = new oidc.Configuration(
        structuredClone(document) as oidc.ServerMetadata,
        clientId,
        client,
        authenticateClient,
      );
      configuration.timeout = IDP_TIMEOUT_MS / 1_000;
      configuration[oidc.customFetch] = fetchFromIdp;
      // What may be on plain http was decided where the document was read.
      if (hasPlainHttp(document)) oidc.allowInsecureRequests(configuration);
      return configuration;
    },

    toRefreshEndpoint(document, configuration) {
      return {
        server: structuredClone(document) as oidc.ServerMetadata,
        client,
        authenticateClient,
        isPlainHttp: hasPlainHttp(document),
        fetchUserInfo:
          document.userinfo_endpoint === undefined
            ? undefined
            : (accessToken, subject) => oidc.fetchUserInfo(configuration, accessToken, subject),
      };
    },
  };
}

function hasPlainHttp(document: IssuerDocument): boolean {
  return Object.values(document).some(
    (member) => typeof member === 'string' && /^http:/i.test(member),
  );
}
