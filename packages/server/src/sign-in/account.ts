/**
 * `/auth/account`: shows a person who they are and where they are signed in, and ends sessions of theirs.
 *
 * @module
 */

import type { Readable } from 'node:stream';
import { PATHS } from '@sallyport/protocol';
import { auditPrincipal } from '../audit/audit.ts';
import { auditOrigin } from '../audit/audit-origin.ts';
import type { RelyingParty } from '../issuer/relying-party/relying-party.ts';
import { buildAccountPage, isAccountNotice, type ListedSession } from '../page/account-page.ts';
import type { PrincipalSessions } from '../session/principal-sessions.ts';
import { readSessionValues } from '../session/session-cookie.ts';
import { formatSessionId, parseSessionId } from '../session/session-id.ts';
import type { Session } from '../session/session-record.ts';
import { findOwnSession, type OwnSession } from './own-session.ts';
import { readForm } from './request-form.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import {
  redirectTo,
  refuseMethod,
  type SignInRequest,
  showFailure,
  showPage,
  singleParameter,
} from './sign-in-request.ts';
import { createSignOut, type SignOutDependencies } from './sign-out.ts';

/** Dependencies of {@link createAccount}. */
export interface AccountDependencies
  extends SignOutDependencies,
    Pick<SignInDependencies, 'check'> {
  readonly relyingParty: SignOutDependencies['relyingParty'] &
    Pick<RelyingParty, 'endSessionOrigin'>;
  readonly principalSessions: Pick<PrincipalSessions, 'list' | 'find' | 'end' | 'endAll'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** One request, its body not read yet. */
export interface AccountRequest extends SignInRequest {
  readonly body: Readable;
}

/** The form holds one short field. */
const FORM_MAX_BYTES = 1_024;

/**
 * Creates the endpoint.
 *
 * GET shows the page. POST ends what the field `end` names, if its `Origin` is ours: a session of the
 * same principal by its id, or `all`. Another person's session is answered like one that does not exist.
 * Ending the session that asks signs this browser out as `/logout` does; the IdP is not informed of the
 * others, because their tokens can be opened with their own cookies alone.
 *
 * @see Design, own paths under `/auth/`.
 */
export function createAccount(
  dependencies: AccountDependencies,
): (request: AccountRequest) => Promise<Response> {
  const { redirects, principalSessions, relyingParty, cookies, now, audit } = dependencies;
  const signOut = createSignOut(dependencies);

  return async function account(request) {
    const { method, headers, requestId } = request;
    if (!['GET', 'HEAD', 'POST'].includes(method)) return refuseMethod('GET, HEAD, POST');
    if (method === 'POST' && headers.origin !== redirects.publicOrigin)
      return showFailure('cross_site', { requestId });
    const own = await findOwnSession(dependencies, request, PATHS.account);
    if (!own.ok) return own.error;
    if (method !== 'POST') return show(request, own.value);
    const form = await readForm(headers, request.body, FORM_MAX_BYTES);
    const asked = form.ok ? singleParameter(form.value, 'end') : 'repeated';
    const end = asked === 'repeated' ? undefined : asked.value;
    if (end === 'all') return endAll(request, own.value);
    const id = parseSessionId(end ?? '');
    return id === undefined
      ? showFailure('bad_request', { requestId })
      : endOne(request, own.value, id);
  };

  async function show(request: SignInRequest, own: OwnSession): Promise<Response> {
    const { principal, user, session } = own;
    const sessions = await principalSessions.list(principal);
    // Of more sessions than are listed, the one that asks may be left out.
    const current =
      sessions.find(({ id }) => id === session.id) ?? (await principalSessions.find(session.id));
    // Ended by another process a moment ago: to load the page again at once could go round in a circle.
    if (current === undefined) {
      const { requestId } = request;
      return showFailure('store_unavailable', { requestId }, { retryAfterSeconds: 1 });
    }
    const notice = request.query.get('notice') ?? '';
    const page = buildAccountPage({
      name: user.name || user.preferredUsername,
      email: user.email,
      subject: principal.subject,
      issuer: principal.issuer,
      current: { ...toListed(current), endsAt: session.endsAt, absoluteEnd: session.absoluteEnd },
      others: sessions.filter(({ id }) => id !== session.id).map(toListed),
      notice: isAccountNotice(notice) ? notice : undefined,
      now: now(),
      idpOrigin: relyingParty.endSessionOrigin(),
    });
    return showPage(page, 200, own.setCookies);
  }

  async function endOne(request: SignInRequest, own: OwnSession, id: number): Promise<Response> {
    if (id === own.session.id)
      return signOut.leave(await signOut.end(request, shownBy(request)), undefined);
    const isEnded = await principalSessions.end(own.principal, id);
    if (isEnded) noteEnded(request, own, id);
    const notice = isEnded ? 'ended' : 'gone';
    return redirectTo(`${PATHS.account}?notice=${notice}`, own.setCookies, 303);
  }

  async function endAll(request: SignInRequest, own: OwnSession): Promise<Response> {
    // Opened while they can be: the IdP is informed by their tokens.
    const shown = await signOut.open(shownBy(request));
    for (const id of await principalSessions.endAll(own.principal)) noteEnded(request, own, id);
    // Whatever else this browser shows is not left behind without its cookie.
    await signOut.end(request, shownBy(request));
    return signOut.leave(shown, undefined);
  }

  function shownBy({ headers }: SignInRequest): readonly string[] {
    return readSessionValues(headers.cookie, cookies.sessionName);
  }

  function noteEnded(request: SignInRequest, { principal, session }: OwnSession, id: number): void {
    audit({
      event: 'session_ended',
      ...auditPrincipal(principal),
      session: id,
      ...auditOrigin(request),
      reason: 'session_revoked',
      by: 'account',
      by_session: session.id,
    });
  }
}

function toListed({ id, browser, address, createdAt, lastUsedAt }: Session): ListedSession {
  return { id: formatSessionId(id), browser, address, createdAt, lastUsedAt };
}
