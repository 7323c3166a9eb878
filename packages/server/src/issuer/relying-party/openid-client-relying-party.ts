/**
 * The relying party on `openid-client`.
 *
 * @module
 */

import { accept, PATHS, type Result, refuse, SallyportError } from '@sallyport/protocol';
import * as oidc from 'openid-client';
import type { Schedule } from '../../time/schedule.ts';
import { createIdpFetch } from '../idp-fetch.ts';
import { createIssuers, type Issuers } from '../issuers.ts';
import { type Claims, joinClaims } from '../joined-claims.ts';
import { CLOCK_TOLERANCE_SECONDS } from '../jwt/claim-readers.ts';
import type { IssuerDocument } from '../metadata/authorization-server-document.ts';
import { type ClientCredential, createClientAuthentication } from './client-authentication.ts';
import { findIdTokenProblem } from './id-token-claims.ts';
import {
  findIssuedSignatureProblem,
  type IssuedSignatureProblem,
  selectIdTokenAlgorithms,
} from './id-token-signature.ts';
import { createLogoutTokenVerifier } from './logout-token-verifier.ts';
import { createRefreshGrant, type RefreshEndpoint } from './refresh-grant.ts';
import type {
  CallbackChecks,
  ExchangedTokens,
  ExchangeRefusal,
  RelyingParty,
} from './relying-party.ts';
import { findTokenTypeProblem } from './token-type.ts';

/** Settings and ports of {@link createRelyingParty}. */
export interface RelyingPartyOptions {
  /** `auth.userAuth.openId.baseUrl`, as configured: the issuer must name itself exactly so. */
  readonly issuer: string;
  readonly clientId: string;
  readonly credential: ClientCredential;
  /** `auth.userAuth.openId.pushedAuthorization`. */
  readonly pushedAuthorization: 'auto' | 'always' | 'never';
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
/** How long a sign-in waits until the IdP may be asked for a new key: its code is used up, so it cannot come again. */
const KEY_PATIENCE_MS = 10_000;
const REVOCATION_TIMEOUT_MS = 3_000;

/**
 * Creates the relying party and begins to fetch the IdP's metadata.
 *
 * The id_token's signature is verified although it comes straight from the token endpoint: a proxy
 * in between, or a mix-up of issuers, must not decide who a person is. Metadata and keys are those of
 * `issuer/`; the library fetches neither.
 */
export function createRelyingParty(options: RelyingPartyOptions): RelyingParty {
  const { issuer, clientId, scopes, publicOrigin, now, schedule, onFailure, onReady } = options;
  const redirectUri = publicOrigin + PATHS.callback;
  const authenticateClient = createClientAuthentication(options.credential);
  const client = { client_id: clientId, [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
  const idp = createIdpFetch({
    fetch: options.fetch,
    timeoutMs: IDP_TIMEOUT_MS,
    bodyMaxBytes: IDP_BODY_MAX_BYTES,
  });
  const closing = new AbortController();
  const refreshGrant = createRefreshGrant({
    now,
    fetch: (url, init) =>
      idp.fetch(url, init, {
        fetch: options.patientFetch,
        timeoutMs: REFRESH_TIMEOUT_MS,
        signal: closing.signal,
      }),
    onFailure,
    findSignatureProblem,
  });
  const issuers = options.issuers ?? createIssuers(options);
  const { metadata, keys } = issuers.of(issuer);
  let configured: oidc.Configuration | undefined;
  let refreshEndpoint: RefreshEndpoint | undefined;
  const followed = metadata.follow({
    needs: ['authorization_endpoint', 'token_endpoint', 'jwks_uri'],
    findProblem: findPushProblem,
    onFailure,
    onDocument: (document) => {
      configured = configure(document);
      refreshEndpoint = toRefreshEndpoint(document, configured);
      onReady();
    },
  });
  keys.follow({ onFailure });
  const verifyLogoutToken = createLogoutTokenVerifier({ clientId, now, keys, metadata: followed });

  return {
    isReady: () => configured !== undefined,

    endSessionOrigin() {
      const endpoint = followed.current?.end_session_endpoint;
      return endpoint === undefined ? undefined : URL.parse(endpoint)?.origin;
    },

    async authorizationUrl({ state, nonce, codeChallenge, extra }) {
      const configuration = await needConfiguration();
      if (configuration === undefined)
        return refuse({ reason: 'idp_unreachable', cause: undefined });
      const parameters = {
        ...extra,
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        nonce,
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
      };
      if (!isPushed(configuration.serverMetadata()))
        return accept(oidc.buildAuthorizationUrl(configuration, parameters));
      try {
        return accept(await oidc.buildAuthorizationUrlWithPAR(configuration, parameters));
      } catch (error) {
        // No fallback to parameters through the browser: an attacker could cause it by breaking the push.
        return refuse(toRefusal(error));
      }
    },

    async exchange(callback, checks) {
      const configuration = await needConfiguration();
      if (configuration === undefined)
        return refuse({ reason: 'idp_unreachable', cause: undefined });
      try {
        return await exchangeCode(configuration, callback, checks);
      } catch (error) {
        return refuse(toRefusal(error));
      }
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

    async revoke(refreshToken) {
      const configuration = configured;
      if (configuration?.serverMetadata().revocation_endpoint === undefined) return true;
      const { promise: timeUp, resolve } = Promise.withResolvers<boolean>();
      const cancel = schedule(REVOCATION_TIMEOUT_MS, () => resolve(true));
      const revoked = oidc
        .tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' })
        .then(
          () => true,
          (cause: unknown) => {
            onFailure(cause);
            return toRefusal(cause).reason !== 'idp_unreachable';
          },
        );
      const isReachable = await Promise.race([revoked, timeUp]);
      cancel();
      return isReachable;
    },

    verifyLogoutToken,

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

  function configure(document: IssuerDocument): oidc.Configuration {
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
  }

  /** The server and the client as `configuration` has them; userinfo is fetched as after a sign-in. */
  function toRefreshEndpoint(
    document: IssuerDocument,
    configuration: oidc.Configuration,
  ): RefreshEndpoint {
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
  }

  /** Found when the metadata is read: every sign-in would fail, and the first person would notice. */
  function findPushProblem(server: IssuerDocument): string | undefined {
    if (!isPushed(server) || server.pushed_authorization_request_endpoint !== undefined)
      return undefined;
    return `the metadata names no pushed_authorization_request_endpoint, which ${
      options.pushedAuthorization === 'always'
        ? 'auth.userAuth.openId.pushedAuthorization: always'
        : 'its own require_pushed_authorization_requests'
    } asks for`;
  }

  async function fetchFromIdp(url: string, init: oidc.CustomFetchOptions): Promise<Response> {
    const response = await idp.fetch(url, init as RequestInit);
    if (/^application\/jwt *(?:;|$)/i.test(response.headers.get('content-type') ?? ''))
      await verifySignedAnswer(await response.clone().text());
    return response;
  }

  /** Userinfo may come signed (OIDC Core section 5.3.2); the library leaves the signature to its caller. */
  async function verifySignedAnswer(token: string): Promise<void> {
    const algorithms = followed.current?.userinfo_signing_alg_values_supported ?? [];
    const signed = { algorithms, keys, schedule, patienceMs: 0 };
    const problem = await findIssuedSignatureProblem(token, signed);
    if (isUndecided(problem)) throw keyNotHad();
    if (problem !== undefined) throw new UnverifiedAnswer(problem);
  }

  /** The library verifies the claims of id_tokens and no signature: keys are fetched in one place only. */
  function findSignatureProblem(
    idToken: string,
    patienceMs = 0,
  ): Promise<IssuedSignatureProblem | undefined> {
    const algorithms = selectIdTokenAlgorithms(followed.current ?? { issuer });
    return findIssuedSignatureProblem(idToken, { algorithms, keys, schedule, patienceMs });
  }

  function isPushed(
    server: Pick<IssuerDocument, 'require_pushed_authorization_requests'>,
  ): boolean {
    switch (options.pushedAuthorization) {
      case 'always':
        return true;
      case 'never':
        return false;
      case 'auto':
        return server.require_pushed_authorization_requests === true;
    }
  }

  async function exchangeCode(
    configuration: oidc.Configuration,
    callback: URLSearchParams,
    { state, nonce, codeVerifier }: CallbackChecks,
  ): Promise<Result<ExchangedTokens, ExchangeRefusal>> {
    const url = new URL(redirectUri);
    url.search = callback.toString();
    // In parallel with the exchange, so that a key withdrawn more than 30 s ago verifies no sign-in.
    const freshened = keys.freshen();
    const answer = await oidc.authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    });
    const typeProblem = findTokenTypeProblem(answer);
    if (typeProblem !== undefined) return refuse({ reason: 'token_invalid', check: typeProblem });
    const idToken = answer.id_token ?? '';
    const verified = answer.claims();
    if (verified === undefined) return refuse({ reason: 'token_invalid', check: 'id_token form' });
    await freshened;
    const unsigned = await findSignatureProblem(idToken, KEY_PATIENCE_MS);
    if (isUndecided(unsigned)) return refuse({ reason: 'idp_unreachable', cause: keyNotHad() });
    const problem = unsigned ?? findIdTokenProblem(verified, clientId, now() / 1_000);
    if (problem !== undefined) return refuse({ reason: 'token_invalid', check: problem });

    const { userinfo_endpoint: userInfoEndpoint } = configuration.serverMetadata();
    const userInfo =
      userInfoEndpoint === undefined
        ? undefined
        : await oidc.fetchUserInfo(configuration, answer.access_token, verified.sub);
    // Parsed from JSON by the library, whose type for it is a little wider than ours.
    const claims = joinClaims({ idToken: verified as Claims, userInfo: userInfo as Claims });
    return accept({
      tokens: { idToken, accessToken: answer.access_token, refreshToken: answer.refresh_token },
      claims: { ...claims, iss: verified.iss, sub: verified.sub },
      accessTokenLifeMs: answer.expires_in === undefined ? undefined : answer.expires_in * 1_000,
    });
  }
}

/** An answer whose signature does not count. */
class UnverifiedAnswer extends Error {
  readonly code: string;

  constructor(problem: string) {
    super(problem);
    this.code = problem;
  }
}

function isUndecided(problem: IssuedSignatureProblem | undefined): boolean {
  return problem === 'key_unavailable' || problem === 'key_pending';
}

function keyNotHad(): SallyportError {
  return new SallyportError('SP_IDP_UNREACHABLE', {
    component: 'idp',
    detail: 'the key that signed could not be fetched, or not yet once more',
    retryAfterSeconds: 5,
  });
}

function hasPlainHttp(document: IssuerDocument): boolean {
  return Object.values(document).some(
    (member) => typeof member === 'string' && /^http:/i.test(member),
  );
}

function toRefusal(error: unknown): ExchangeRefusal {
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    return {
      reason: 'idp_refused',
      code: error.error,
      description: error.error_description ?? '',
    };
  }
  const challenged = readClientChallenge(error);
  if (challenged !== undefined) return challenged;
  if (isUnreachable(error)) return { reason: 'idp_unreachable', cause: error };
  // Every other failure is in the IdP's answer.
  return { reason: 'token_invalid', check: checkOf(error) };
}

/**
 * A client that used the Authorization header is refused with a challenge for the same scheme (RFC 6749
 * section 5.2), which the library reports instead of the body. A challenge for `Bearer` is about a token.
 */
function readClientChallenge(error: unknown): ExchangeRefusal | undefined {
  if (!(error instanceof oidc.WWWAuthenticateChallengeError) || error.status !== 401)
    return undefined;
  const challenge = error.cause.find(({ scheme }) => scheme === 'basic');
  if (challenge === undefined) return undefined;
  const { error: code = 'invalid_client', error_description: description = '' } =
    challenge.parameters;
  return { reason: 'idp_refused', code, description };
}

/** No answer, or a server that says of itself that it is broken. */
function isUnreachable(error: unknown): boolean {
  for (
    let cause = error;
    cause !== undefined;
    cause = cause instanceof Error ? cause.cause : undefined
  ) {
    if (cause instanceof SallyportError) return true;
    if (cause instanceof Response) return cause.status >= 500;
  }
  return false;
}

function checkOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return error.code;
  return error instanceof Error ? error.name : 'response';
}
