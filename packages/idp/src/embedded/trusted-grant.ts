/**
 * The grant of a first-party application: it gets its scopes without consent.
 *
 * @module
 */

import type { Grant, RouteContext } from 'oidc-provider/lib/provider.js';
import { API_SCOPE, applicationsOf, type IdpSpec } from '../spec/idp-spec.ts';

/**
 * Creates the function that finds the grant of a session and an application, or makes it.
 *
 * Saving extends its life with every authorization. What a token may do is decided by the request:
 * the grant is only the upper bound.
 */
export function createGrantLoader(
  spec: IdpSpec,
): (context: RouteContext) => Promise<Grant | undefined> {
  return async function loadGrant({ oidc }) {
    const { account, client, session, provider } = oidc;
    const application = applicationsOf(spec).find(({ clientId }) => clientId === client?.clientId);
    if (account === undefined || application === undefined) return undefined;

    const owner = { accountId: account.accountId, clientId: application.clientId };
    const grantId = session.grantIdFor(application.clientId);
    const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    const grant = known?.accountId === owner.accountId ? known : new provider.Grant(owner);
    grant.addOIDCScope(application.scopes.join(' '));
    grant.addResourceScope(spec.audience, API_SCOPE);
    await grant.save();
    return grant;
  };
}
