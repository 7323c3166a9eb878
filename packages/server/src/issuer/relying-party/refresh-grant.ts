/**
 * The refresh request of a session, and every check on its answer.
 *
 * @module
 */

import { accept, type Principal, type Result, refuse, SallyportError } from '@sallyport/protocol';
import * as oauth from 'oauth4webapi';
import { NotSentError } from '../http-fetch.ts';
import { type Claims, joinClaims } from '../joined-claims.ts';
import type { RefreshableTokens, RefreshedTokens, RefreshRefusal } from '../token-refresh.ts';
import { nameClientCause, type RegisteredClient } from './client-refusal.ts';
import { findIdTokenProblem } from './id-token-claims.ts';
import { findTokenTypeProblem } from './token-type.ts';

/** The authorization server, and the client that it knows this service as. */
export interface RefreshEndpoint {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly authenticateClient: oauth.ClientAuth;
  /** Whether the metadata names an endpoint on plain http; where that is allowed was decided as it was read. */
  readonly isPlainHttp: boolean;
  /** Fetches userinfo, which must be the subject's; `undefined` where the server has none. Rejects on failure. */
  readonly fetchUserInfo:
    | ((accessToken: string, subject: string) => Promise<Readonly<Record<string, unknown>>>)
    | undefined;
}

/** Ports of {@link createRefreshGrant}. */
export interface RefreshGrantOptions {
  /** As this service is configured, for the cause of a refusal. */
  readonly client: RegisteredClient;
  readonly now: () => number;
  /** Sends the request, and waits as long as an answer may come. */
  readonly fetch: NonNullable<oauth.TokenEndpointRequestOptions[typeof oauth.customFetch]>;
  /** Called with a failure of userinfo: the claims of the sign-in then stand for another round. */
  readonly onFailure: (cause: unknown) => void;
  /** What is wrong with the signature of an id_token, or `undefined`. */
  readonly findSignatureProblem: (idToken: string) => Promise<string | undefined>;
}

/**
 * Sends the refresh request and verifies the answer: the id_token in full, if there is one, and that issuer
 * and subject are the session's. Never rejects.
 */
export type RefreshGrant = (
  endpoint: RefreshEndpoint,
  tokens: RefreshableTokens,
  principal: Principal,
) => Promise<Result<RefreshedTokens, RefreshRefusal>>;

/** What an answer brought, whether or not the rest of it passes its checks. */
interface Granted {
  /** The refresh token that counts from now on: the rotated one, or the one that was sent. */
  readonly refreshToken: string;
}

/** OAuth errors after which only a person can help (RFC 6749 section 5.2, OIDC Core section 3.1.2.6). */
const FINAL_ERRORS: ReadonlySet<string> = new Set([
  'invalid_grant',
  'interaction_required',
  'login_required',
  'account_selection_required',
  'consent_required',
  'access_denied',
]);

/**
 * Creates the grant.
 *
 * @see [OIDC Core 1.0 section 12.2](https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse)
 */
export function createRefreshGrant({
  client: registered,
  now,
  fetch,
  onFailure,
  findSignatureProblem,
}: RefreshGrantOptions): RefreshGrant {
  return async (endpoint, tokens, principal) => {
    let granted: Granted | undefined;
    try {
      const { server, client, authenticateClient, isPlainHttp } = endpoint;
      const response = await oauth.refreshTokenGrantRequest(
        server,
        client,
        authenticateClient,
        tokens.refreshToken,
        { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: isPlainHttp },
      );
      granted = await readGranted(response, tokens.refreshToken);
      const answer = await oauth.processRefreshTokenResponse(server, client, response);
      return await verifyAnswer(answer, endpoint, tokens, principal);
    } catch (error) {
      return refuse(toRefusal(error, granted, registered));
    }
  };

  async function verifyAnswer(
    answer: oauth.TokenEndpointResponse,
    endpoint: RefreshEndpoint,
    tokens: RefreshableTokens,
    principal: Principal,
  ): Promise<Result<RefreshedTokens, RefreshRefusal>> {
    // Without rotation the old one stays good.
    const refreshToken = answer.refresh_token ?? tokens.refreshToken;
    const typeProblem = findTokenTypeProblem(answer);
    if (typeProblem !== undefined)
      return refuse({ reason: 'unverified', check: typeProblem, refreshToken });
    const verified = oauth.getValidatedIdTokenClaims(answer);
    if (verified !== undefined) {
      const unsigned = await findSignatureProblem(answer.id_token ?? '');
      if (unsigned !== undefined)
        return refuse({ reason: 'unverified', check: unsigned, refreshToken });
      const isOther = verified.sub !== principal.subject || verified.iss !== principal.issuer;
      if (isOther) return refuse({ reason: 'other_subject' });
      const problem =
        findIdTokenProblem(verified, endpoint.client.client_id, now() / 1_000) ??
        findNonceProblem(verified, tokens.idToken);
      if (problem !== undefined)
        return refuse({ reason: 'unverified', check: problem, refreshToken });
    }
    const idToken = answer.id_token ?? tokens.idToken;
    const userInfo = await tryUserInfo(endpoint, answer.access_token, principal.subject);
    const isPartial = userInfo === undefined;
    return accept({
      tokens: { idToken, accessToken: answer.access_token, refreshToken },
      // Parsed from JSON, whose type in the library is a little wider than ours.
      claims: joinClaims({
        idToken: verified as Claims | undefined,
        userInfo: userInfo as Claims | undefined,
        // An answer need not hold an id_token; then the one of the sign-in, verified at the time, still says
        // who it is.
        earlier: isPartial || verified !== undefined ? undefined : claimsOf(tokens.idToken),
      }),
      isPartial,
      accessTokenLifeMs: answer.expires_in === undefined ? undefined : answer.expires_in * 1_000,
    });
  }

  /** `undefined` when the request failed: access rules must not be applied to half of the claims. */
  async function tryUserInfo(
    { fetchUserInfo }: RefreshEndpoint,
    accessToken: string,
    subject: string,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    try {
      return (await fetchUserInfo?.(accessToken, subject)) ?? {};
    } catch (cause) {
      onFailure(cause);
      return undefined;
    }
  }
}

/**
 * Reads the rotated token before anything is checked: it must not be lost with an answer that fails a check.
 *
 * @returns `undefined` for an answer that grants nothing.
 */
async function readGranted(response: Response, sent: string): Promise<Granted | undefined> {
  if (!response.ok) return undefined;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (typeof body !== 'object' || body === null || !('access_token' in body)) return undefined;
  const token = 'refresh_token' in body ? body.refresh_token : undefined;
  // Without rotation the one that was sent stays good.
  return { refreshToken: typeof token === 'string' && token !== '' ? token : sent };
}

function claimsOf(idToken: string): Claims {
  const payload = Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString('utf8');
  return JSON.parse(payload) as Claims;
}

/** A refreshed id_token need not hold a nonce; one it holds is that of the id_token before, if that had one. */
function findNonceProblem(
  { nonce }: Readonly<Record<string, unknown>>,
  earlierIdToken: string,
): string | undefined {
  const { nonce: earlier } = claimsOf(earlierIdToken);
  return nonce === undefined || earlier === undefined || nonce === earlier ? undefined : 'nonce';
}

function toRefusal(
  error: unknown,
  granted: Granted | undefined,
  client: RegisteredClient,
): RefreshRefusal {
  if (granted !== undefined)
    return { reason: 'unverified', check: checkOf(error), refreshToken: granted.refreshToken };
  if (isNotSent(error)) return { reason: 'unreachable', cause: error };
  // Too many requests (RFC 6585 section 4) says nothing about this refresh token, whatever the body holds.
  if (error instanceof oauth.ResponseBodyError && error.status !== 429) {
    return FINAL_ERRORS.has(error.error)
      ? { reason: 'refused', code: error.error }
      : { reason: 'rejected', cause: nameCause(error, client) };
  }
  return { reason: 'unavailable', cause: error };
}

/** The error that the IdP gave, and what to compare where the client is at fault; the log has nothing else of it. */
function nameCause(error: oauth.ResponseBodyError, client: RegisteredClient): unknown {
  const { error: code, status } = error;
  const named = nameClientCause({ reason: 'idp_refused', code, description: '', status }, client);
  if (named.reason !== 'misconfigured') return error;
  const detail = `${code}: ${named.detail}`;
  return new SallyportError('SP_IDP_PROTOCOL', { component: 'idp', detail, cause: error });
}

function isNotSent(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof NotSentError) return true;
  return false;
}

function checkOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return error.code;
  return error instanceof Error ? error.name : 'response';
}
