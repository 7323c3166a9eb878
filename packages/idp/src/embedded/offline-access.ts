/**
 * Grants `offline_access` to an application that may have it, without a consent page.
 *
 * OpenID Connect Core 1.0 section 11 lets a provider drop the scope unless `prompt=consent` was
 * sent "or other conditions" allow it; the provider library drops it, then runs the validators of
 * extra parameters. The condition here is that a first-party application is trusted, so the scope
 * is put back.
 *
 * @module
 */

import type { RouteContext } from 'oidc-provider/lib/provider.js';

const SCOPE = 'offline_access';

/** Carries the wish through a pushed authorization request, whose scope is stored already reduced. */
const PARAMETER = 'sallyport_offline_access';

/** The extra parameter to configure: the library calls its validator for every request. */
export const OFFLINE_ACCESS_PARAMETERS: Readonly<
  Record<string, (context: RouteContext, value: string | undefined) => void>
> = {
  [PARAMETER](context, value) {
    const { params, client } = context.oidc;
    if (params === undefined || client?.grantTypeAllowed('refresh_token') !== true) return;
    if (value === undefined && !requestedScopes(context).includes(SCOPE)) return;

    const scopes = new Set(params['scope']?.split(' '));
    params['scope'] = [...scopes.add(SCOPE)].join(' ');
    params[PARAMETER] = 'yes';
  },
};

/** The scope as it was sent; parameters beside a pushed request do not count (RFC 9126 section 4). */
function requestedScopes(context: RouteContext): readonly string[] {
  const { route, body, entities } = context.oidc;
  if (entities.PushedAuthorizationRequest !== undefined) return [];
  const scope = route === 'authorization' ? context.query['scope'] : body?.['scope'];
  return typeof scope === 'string' ? scope.split(' ') : [];
}
