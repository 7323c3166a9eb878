/**
 * The grant, made when it is first used.
 *
 * @module
 */

import { refuse } from '@sallyport/protocol';
import type { Grant, TokenRefusal } from '../grant.ts';
import type { ClientSettings } from '../settings/client-settings.ts';
import { GRANT_KINDS, isForPeople } from './select-grant.ts';

/**
 * Creates the grant; kept tokens need none. Where the platform has come to name another issuer, nothing is
 * sent to that one and nothing of it is kept under the name of the former.
 *
 * @param isSameIssuer - Whether the platform still names the issuer that kept tokens are of.
 */
export function createLazyGrant(
  { authType }: ClientSettings,
  grant: () => Promise<Grant>,
  isSameIssuer: () => Promise<boolean>,
): Grant {
  const isInteractive = isForPeople(authType);
  const kind = GRANT_KINDS[authType];
  const lazy: Grant = {
    kind,
    isInteractive,
    obtain: async (options) =>
      (await isSameIssuer()) ? await (await grant()).obtain(options) : refuse(issuerChanged()),
  };
  if (!isInteractive) return lazy;
  return {
    ...lazy,
    refresh: async (refreshToken, options) => {
      if (!(await isSameIssuer())) return refuse(issuerChanged());
      const renewed = await (await grant()).refresh?.(refreshToken, options);
      if (renewed === undefined) throw new TypeError(`a grant of kind ${kind} refreshes`);
      return renewed;
    },
  };
}

function issuerChanged(): TokenRefusal {
  return {
    error: 'login_required',
    description: 'The platform names another identity provider than the one that was signed in at.',
    hint: 'If that is meant to be so, sign in again.',
  };
}
