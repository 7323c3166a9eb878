/**
 * `POST /auth/backchannel-logout`: the IdP says whose sessions it has ended.
 *
 * @module
 */

import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { type Audit, NO_PRINCIPAL } from '../audit/audit.ts';
import { auditOrigin } from '../audit/audit-origin.ts';
import type { LogoutToken } from '../issuer/relying-party/logout-token.ts';
import type { RelyingParty } from '../issuer/relying-party/relying-party.ts';
import { addressBlock } from '../listener/client-address.ts';
import { describeFailure, type Log } from '../log/log.ts';
import type { PrincipalSessions } from '../session/principal-sessions.ts';
import type { SessionStore, Turn } from '../session/session-store.ts';
import type { KeptLogouts } from './kept-logouts.ts';
import type { RateLimit } from './rate-limit.ts';
import { readForm } from './request-form.ts';
import { refuseMethod, type SignInRequest } from './sign-in-request.ts';

/** Dependencies of {@link createBackchannelLogout}. */
export interface BackchannelLogoutOptions {
  readonly relyingParty: Pick<RelyingParty, 'verifyLogoutToken'>;
  readonly sessions: Pick<PrincipalSessions, 'endAtIdp'>;
  readonly store: Pick<SessionStore, 'takeTurn' | 'claimOnce'>;
  readonly keptLogouts: Pick<KeptLogouts, 'keep' | 'takeDone'>;
  /** Whether a client address means anything: without trusted proxies all clients may share one. */
  readonly countsAddresses: boolean;
  readonly rateLimit: RateLimit;
  readonly log: Log;
  readonly audit: Audit;
}

/** One request, its body not read yet. */
export interface BackchannelRequest extends Omit<SignInRequest, 'query'> {
  readonly body: Readable;
}

const FORM_MAX_BYTES = 65_536;
const RETRY_AFTER_SECONDS = 5;
/** Longer than ending a person's sessions takes in any store; a process that dies keeps its turn for so long. */
const TURN_MS = 30_000;

/**
 * Creates the endpoint. It knows no cookie: who has a token that the IdP signed for us is the IdP.
 *
 * Its steps, in order: form, token, the turn of the token's `jti`, end of the sessions, claim of the `jti`.
 * Whether a token is a replay is decided before anything ends, and by one process of all: what is refused
 * has ended nothing. A `jti` counts as used once its logout is durable, so that the IdP's next attempt
 * after one that failed is carried out. Of an address only refused requests are counted, so that an IdP
 * may sign all people out at once.
 *
 * @returns 200 without a body once the end is durable, also when there was nothing to end. 400 with a
 *   JSON error (RFC 6749 section 5.2) for a request that is not valid, and for a logout that failed: the
 *   specification has no other status for it, so `Retry-After` marks it. A logout that the store could
 *   not take is kept as well, and carried out once the store is back. The answer never says
 *   which check a token did not pass; the log does.
 *
 * @see [OIDC Back-Channel Logout 1.0 section 2.5](https://openid.net/specs/openid-connect-backchannel-1_0.html#BCRequest)
 * @see [OIDC Back-Channel Logout 1.0 section 2.8](https://openid.net/specs/openid-connect-backchannel-1_0.html#BCResponse)
 */
export function createBackchannelLogout(
  options: BackchannelLogoutOptions,
): (request: BackchannelRequest) => Promise<Response> {
  const { relyingParty, sessions, store, keptLogouts, countsAddresses, rateLimit, log, audit } =
    options;

  return async function backchannelLogout(request) {
    if (request.method !== 'POST') return refuseMethod('POST');
    // A page has sent it from a person's browser, which may share an address with the IdP.
    if (isFromBrowser(request)) {
      auditRefused(request, 'browser');
      return answerError(400, 'invalid_request', TEXTS.form);
    }
    const turn = countsAddresses ? rateLimit(turnKey(request), 0) : { ok: true as const };
    if (!turn.ok)
      return answerError(429, 'temporarily_unavailable', TEXTS.tooMany, turn.retryAfterSeconds);
    const form = await readForm(request.headers, request.body, FORM_MAX_BYTES);
    if (!form.ok) return invalid(request, form.error, TEXTS.form);
    const [token, ...more] = form.value.getAll('logout_token');
    if (token === undefined) return invalid(request, 'logout_token_missing', TEXTS.form);
    if (more.length > 0) return invalid(request, 'logout_token_repeated', TEXTS.form);

    const verified = await relyingParty.verifyLogoutToken(token);
    if (verified.ok) {
      return endSessions(request, verified.value).catch((cause: unknown) => {
        const isKept = keptLogouts.keep(verified.value, () =>
          carryOutLate(request, verified.value),
        );
        return failed(request, describeFailure(cause), isKept);
      });
    }
    switch (verified.error.reason) {
      case 'token_invalid':
        return invalid(request, verified.error.check, TEXTS.token);
      case 'key_pending':
        return later(request, verified.error.reason, verified.error.retryAfterSeconds);
      case 'idp_unreachable':
        return failed(request, verified.error.reason, false);
    }
  };

  async function endSessions(request: BackchannelRequest, token: LogoutToken): Promise<Response> {
    const outcome = await carryOut(request, token);
    if (outcome === 'claimed' && !keptLogouts.takeDone(token))
      return invalid(request, 'replay', TEXTS.token);
    // The other one may still fail, and then this token has to be sent again.
    if (outcome === 'under_way') {
      auditRefused(request, outcome);
      return answerError(400, 'temporarily_unavailable', TEXTS.failed, RETRY_AFTER_SECONDS);
    }
    return new Response(null, { status: 200, headers: NO_STORE });
  }

  async function carryOutLate(request: BackchannelRequest, token: LogoutToken): Promise<void> {
    if ((await carryOut(request, token)) === 'under_way') throw new Error('under way');
  }

  /** `taken`: it is done, and durable. */
  async function carryOut(request: BackchannelRequest, token: LogoutToken): Promise<Turn> {
    const { issuer, subject, sid, issuedAt, acceptedUntil } = token;
    const key = usedKey(token);
    const holder = randomUUID();
    const turn = await store.takeTurn(key, holder, TURN_MS);
    if (turn !== 'taken') return turn;
    const common = { issuer, subject, ...auditOrigin(request) };
    try {
      const ended = await sessions.endAtIdp({ issuer, subject, sid, endedAt: issuedAt });
      for (const session of ended)
        audit({ event: 'session_ended', ...common, session, reason: 'session_revoked' });
      // False only where this process stood still for longer than its turn, and another one finished.
      await store.claimOnce(key, acceptedUntil);
      audit({
        event: 'backchannel_logout',
        ...common,
        session: undefined,
        reason: 'idp_logout',
        has_sid: sid !== undefined,
        sessions: ended.length,
      });
      return turn;
    } catch (cause) {
      void giveBack(store, key, holder);
      throw cause;
    }
  }

  function invalid(request: BackchannelRequest, check: string, text: string): Response {
    noteRefused(request, check);
    return answerError(400, 'invalid_request', text);
  }

  /** Most likely forged, so that it counts and is logged as such; the IdP's own may be sent again. */
  function later(request: BackchannelRequest, check: string, afterSeconds: number): Response {
    noteRefused(request, check);
    return answerError(400, 'temporarily_unavailable', TEXTS.failed, afterSeconds);
  }

  function noteRefused(request: BackchannelRequest, check: string): void {
    if (countsAddresses) rateLimit(turnKey(request));
    auditRefused(request, check);
  }

  function auditRefused(request: BackchannelRequest, check: string): void {
    audit({
      event: 'backchannel_logout_refused',
      ...NO_PRINCIPAL,
      session: undefined,
      ...auditOrigin(request),
      reason: check,
    });
  }

  /** Nothing is promised to have ended. An outage is a 400 here, unlike anywhere else. */
  function failed({ requestId }: BackchannelRequest, failure: string, isKept: boolean): Response {
    log('error', 'backchannel_logout_failed', { failure, kept: isKept, request_id: requestId });
    return answerError(400, 'temporarily_unavailable', TEXTS.failed, RETRY_AFTER_SECONDS);
  }
}

/** The answer to the sender. Fixed, so that nothing of a request comes back. */
const TEXTS = {
  form: 'A form with one logout_token is expected',
  token: 'The logout token is not accepted',
  failed: 'The logout could not be carried out',
  tooMany: 'Too many requests of this address were not valid',
} as const;

const NO_STORE = { 'cache-control': 'no-store', 'x-accel-expires': '0' } as const;
const JSON_HEADERS = { ...NO_STORE, 'x-content-type-options': 'nosniff' } as const;

/** Ends a turn, so that the next attempt need not wait until it has ended by itself. */
async function giveBack(
  store: Pick<SessionStore, 'takeTurn'>,
  key: Buffer,
  holder: string,
): Promise<void> {
  try {
    await store.takeTurn(key, holder, 0);
  } catch {
    // The store is still down; the turn ends by itself.
  }
}

/** Browsers name both. The fetch of Node sends a mode alone, and so does an IdP that is written with it. */
function isFromBrowser({ headers }: BackchannelRequest): boolean {
  return headers['sec-fetch-site'] !== undefined && headers['sec-fetch-mode'] !== undefined;
}

/** Names a token's `jti`, which two issuers may both use. */
function usedKey({ issuer, jti }: LogoutToken): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(['logout', issuer, jti]))
    .digest();
}

function turnKey({ address }: BackchannelRequest): string {
  return `backchannel ${addressBlock(address)}`;
}

function answerError(
  status: 400 | 429,
  error: 'invalid_request' | 'temporarily_unavailable',
  description: string,
  retryAfterSeconds?: number,
): Response {
  const response = Response.json(
    { error, error_description: description },
    { status, headers: JSON_HEADERS },
  );
  if (retryAfterSeconds !== undefined)
    response.headers.set('retry-after', String(retryAfterSeconds));
  return response;
}
