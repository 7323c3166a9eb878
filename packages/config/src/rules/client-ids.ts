/**
 * The client IDs of the three applications.
 *
 * @module
 */

import { type Application, listSharedClientIds } from '@sallyport/protocol';
import { describeFound } from '../problems.ts';
import type { Rule } from './rule.ts';

const PLACES: Readonly<Record<Application, { readonly key: string; readonly variable: string }>> = {
  web: { key: 'auth.userAuth.openId.clientId', variable: 'OIDC_CLIENT_ID' },
  native: {
    key: 'auth.appAuth.thirdPartyConfig.flyteClient.clientId',
    variable: 'CLI_CLIENT_ID',
  },
  service: { key: 'union.auth.clientId', variable: 'INTERNAL_CLIENT_ID' },
};

/**
 * Requirement, "IdP applications": three applications, each with its own client ID. A warning, because what one that
 * is shared may do is up to the identity provider.
 */
export const DISTINCT_CLIENTS_RULE: Rule = {
  keys: ['server.security.useAuth', ...Object.values(PLACES).map(({ key }) => key)],
  check: ({ config: { auth, server, union } }) => {
    if (!server.security.useAuth) return [];
    const ids = {
      web: auth.userAuth.openId.clientId,
      native: auth.appAuth.thirdPartyConfig.flyteClient.clientId,
      service: union.auth.clientId,
    };
    return listSharedClientIds(ids).map(([one, other]) => ({
      key: PLACES[one].key,
      found: `${describeFound(ids[one])}, which ${PLACES[other].key} (${PLACES[other].variable}) is, too`,
      expected: `the client ID of the ${one} app: the web, the native and the service app are three applications`,
      isWarning: true,
    }));
  },
};
