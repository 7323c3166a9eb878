/**
 * RP-initiated logout: who proves whose session it is goes straight back, who does not is asked.
 *
 * @module
 */

import type { Context, RouteContext } from 'oidc-provider/lib/provider.js';
import { renderSignedOutPage, renderSignOutPage } from './pages/sign-out.ts';
import { COOKIE_PATH } from './routes.ts';

/** Logout settings of the provider: what it shows, and what it does instead of showing. */
export const LOGOUT_FEATURE: Readonly<Record<string, unknown>> = {
  enabled: true,
  /**
   * Called when there is a session to end. An ID token of the person who is signed in, checked by
   * the provider before, is proof enough; any other request has to be confirmed on a page, or a
   * link on some site could sign people out.
   */
  async logoutSource(context: RouteContext) {
    const { oidc } = context;
    const hint = oidc.entities.IdTokenHint?.payload.sub;
    if (hint !== undefined && hint === oidc.session.accountId) {
      await endSession(context);
      redirectAfterLogout(context);
      return;
    }
    context.body = renderSignOutPage({
      action: oidc.urlFor('end_session_confirm'),
      xsrf: oidc.session.state?.secret ?? '',
    });
  },
  async postLogoutSuccessSource(context: RouteContext) {
    context.type = 'html';
    context.body = renderSignedOutPage();
  },
};

/**
 * Sends a logout request without a session on its way: there is nothing to ask about.
 *
 * Does not check the target; the provider has refused an unregistered one by then.
 *
 * @see [OpenID Connect RP-Initiated Logout 1.0 section 3](https://openid.net/specs/openid-connect-rpinitiated-1_0.html#RedirectionAfterLogout)
 */
export async function skipEmptyLogout(
  context: Context | RouteContext,
  next: () => Promise<void>,
): Promise<void> {
  await next();
  if (!('oidc' in context) || context.oidc.route !== 'end_session') return;
  if (context.status === 200 && context.oidc.session.accountId === undefined)
    redirectAfterLogout(context);
}

/** Ends the session and what hangs on it; grants with `offline_access` outlive it by definition. */
async function endSession(context: RouteContext): Promise<void> {
  const { provider, session } = context.oidc;
  const grantIds = Object.values(session.authorizations ?? {}).flatMap((authorization) =>
    authorization.grantId === undefined || authorization.persistsLogout === true
      ? []
      : [authorization.grantId],
  );
  const members = [
    provider.AccessToken,
    provider.AuthorizationCode,
    provider.RefreshToken,
    provider.DeviceCode,
  ];
  await Promise.all(
    grantIds.flatMap((grantId) => [
      ...members.map((member) => member.revokeByGrantId(grantId)),
      provider.Grant.adapter.destroy(grantId),
    ]),
  );
  await session.destroy();
  await notifyApplications(context);
  context.cookies.set(provider.cookieName('session'), null, SESSION_COOKIE);
  provider.emit('end_session.success', context);
}

/**
 * Notifies every application that an ended session was used with, as the library does after its own page.
 * One that cannot be reached changes nothing.
 *
 * @see [OIDC Back-Channel Logout 1.0 section 2.3](https://openid.net/specs/openid-connect-backchannel-1_0.html#Tracking)
 */
async function notifyApplications(context: RouteContext): Promise<void> {
  const { provider, session } = context.oidc;
  const { accountId, authorizations = {} } = session;
  if (accountId === undefined) return;
  await Promise.all(
    Object.keys(authorizations).map(async (clientId) => {
      const client = await provider.Client.find(clientId);
      if (client?.backchannelLogoutUri === undefined) return;
      const sid = session.sidFor(clientId);
      await client.backchannelLogout(accountId, sid).then(
        () => provider.emit('backchannel.success', context, client, accountId, sid),
        (cause: unknown) =>
          provider.emit('backchannel.error', context, cause, client, accountId, sid),
      );
    }),
  );
}

/** Attributes of the session cookie; the same to set and to clear it. */
export const SESSION_COOKIE: Readonly<Record<string, unknown>> = {
  httpOnly: true,
  sameSite: 'lax',
  path: COOKIE_PATH,
  signed: true,
};

function redirectAfterLogout(context: RouteContext): void {
  const { oidc } = context;
  const { postLogoutRedirectUri, state } = oidc.session.state ?? {};
  const target = new URL(postLogoutRedirectUri ?? oidc.urlFor('end_session_success'));
  if (postLogoutRedirectUri !== undefined && state !== undefined)
    target.searchParams.set('state', state);
  context.status = 303;
  context.redirect(target.href);
}
