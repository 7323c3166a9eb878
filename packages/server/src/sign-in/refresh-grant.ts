/**
 * The refresh request of a session, and every check on its answer.
 *
 * @module
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { accept, type Principal, type Result, refuse } from '@sallyport/protocol';
import * as oidc from 'openid-client';
import { NotSentError } from '../issuer/patient-fetch.ts';
import { type Claims, joinClaims } from '../session/joined-claims.ts';
import type { RefreshedTokens, RefreshRefusal } from '../session/renewal/renewal.ts';
import type { SessionTokens } from '../session/session-record.ts';
import { findIdTokenProblem } from './id-token-claims.ts';
import { findTokenTypeProblem } from './token-type.ts';

/** What {@link createRefreshGrant} needs. */
export interface RefreshGrantOptions {
  readonly clientId: string;
  readonly now: () => number;
  /** Told of userinfo that could not be had: the claims of the sign-in then stand for another round. */
  readonly onFailure: (cause: unknown) => void;
  /** What is wrong with the signature of an id_token, or `undefined`. */
  readonly findSignatureProblem: (idToken: string) => Promise<string | undefined>;
}

/** The grant, with the ear it needs at the token endpoint. */
export interface RefreshGrant {
  /**
   * Sends the request and verifies the answer: the id_token in full, if there is one, and that issuer
   * and subject are the session's.
   */
  refresh(
    configuration: oidc.Configuration,
    tokens: SessionTokens & { readonly refreshToken: string },
    principal: Principal,
  ): Promise<Result<RefreshedTokens, RefreshRefusal>>;
  /** Whether a request is the grant's own: it is waited for as long as there may be an answer. */
  isOwn(url: string): boolean;
  /** To be told of every answer of the IdP: a rotated token must not be lost with an answer that fails a check. */
  overhear(url: string, response: Response): Promise<void>;
}

interface Overheard {
  readonly tokenEndpoint: string | undefined;
  isGranted: boolean;
  refreshToken: string | undefined;
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
  clientId,
  now,
  onFailure,
  findSignatureProblem,
}: RefreshGrantOptions): RefreshGrant {
  const current = new AsyncLocalStorage<Overheard>();

  return {
    async refresh(configuration, tokens, principal) {
      const overheard: Overheard = {
        // Spelled as the request spells it.
        tokenEndpoint: URL.parse(configuration.serverMetadata().token_endpoint ?? '')?.href,
        isGranted: false,
        refreshToken: undefined,
      };
      try {
        return await current.run(overheard, () => exchange(configuration, tokens, principal));
      } catch (error) {
        return refuse(toRefusal(error, overheard, tokens.refreshToken));
      }
    },

    isOwn: (url) => url === current.getStore()?.tokenEndpoint,

    async overhear(url, response) {
      const overheard = current.getStore();
      if (overheard === undefined || url !== overheard.tokenEndpoint || !response.ok) return;
      const body: unknown = await response
        .clone()
        .json()
        .catch(() => undefined);
      const token =
        typeof body === 'object' && body !== null && 'refresh_token' in body
          ? body.refresh_token
          : undefined;
      if (typeof token === 'string' && token !== '') overheard.refreshToken = token;
      overheard.isGranted = typeof body === 'object' && body !== null && 'access_token' in body;
    },
  };

  async function exchange(
    configuration: oidc.Configuration,
    tokens: SessionTokens & { readonly refreshToken: string },
    principal: Principal,
  ): Promise<Result<RefreshedTokens, RefreshRefusal>> {
    const answer = await oidc.refreshTokenGrant(configuration, tokens.refreshToken);
    // Without rotation the old one stays good.
    const refreshToken = answer.refresh_token ?? tokens.refreshToken;
    const typeProblem = findTokenTypeProblem(answer);
    if (typeProblem !== undefined)
      return refuse({ reason: 'unverified', check: typeProblem, refreshToken });
    const verified = answer.claims();
    if (verified !== undefined) {
      const unsigned = await findSignatureProblem(answer.id_token ?? '');
      if (unsigned !== undefined)
        return refuse({ reason: 'unverified', check: unsigned, refreshToken });
      const isOther = verified.sub !== principal.subject || verified.iss !== principal.issuer;
      if (isOther) return refuse({ reason: 'other_subject' });
      const problem =
        findIdTokenProblem(verified, clientId, now() / 1_000) ??
        findNonceProblem(verified, tokens.idToken);
      if (problem !== undefined)
        return refuse({ reason: 'unverified', check: problem, refreshToken });
    }
    const idToken = answer.id_token ?? tokens.idToken;
    const userInfo = await fetchUserInfo(configuration, answer.access_token, principal.subject);
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

  /** `undefined` when it could not be had: half of the claims could shut somebody out. */
  async function fetchUserInfo(
    configuration: oidc.Configuration,
    accessToken: string,
    subject: string,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    try {
      return await oidc.fetchUserInfo(configuration, accessToken, subject);
    } catch (cause) {
      onFailure(cause);
      return undefined;
    }
  }
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
  { isGranted, refreshToken }: Overheard,
  sent: string,
): RefreshRefusal {
  // Without rotation the one that was sent stays good.
  if (isGranted) {
    return {
      reason: 'unverified',
      check: checkOf(error),
      refreshToken: refreshToken ?? sent,
    };
  }
  if (isNotSent(error)) return { reason: 'unreachable', cause: error };
  // Too many requests (RFC 6585 section 4) says nothing of this one, whatever stands in the body.
  if (error instanceof oidc.ResponseBodyError && error.status !== 429) {
    return FINAL_ERRORS.has(error.error)
      ? { reason: 'refused', code: error.error }
      : { reason: 'rejected', cause: error };
  }
  return { reason: 'unavailable', cause: error };
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
