/**
 * The line about sign-ins that bring no e-mail address, once.
 *
 * @module
 */

import type { Log } from '../log/log.ts';

/** Notes the claims of a sign-in, and whether an e-mail address was kept of them. */
export type NoteEmail = (
  claims: Readonly<Record<string, unknown>>,
  email: string,
  scopes: readonly string[],
) => void;

/**
 * Creates the note: the first sign-in without an address writes a line with the setting, and no later one. The default scopes of
 * the requirement hold no `email`, so many providers give none.
 *
 * @see Requirement, "Admin service authentication settings", `auth.userAuth.openId.scopes`
 */
export function createEmailNote(log: Log): NoteEmail {
  let isNoted = false;
  return (claims, email, scopes) => {
    if (email !== '' || isNoted) return;
    isNoted = true;
    log('warn', 'email_missing', explain(claims, scopes));
  };
}

function explain(
  claims: Readonly<Record<string, unknown>>,
  scopes: readonly string[],
): { readonly key: string; readonly detail: string } {
  if (claims['email'] !== undefined)
    return {
      key: 'emailTrusted',
      detail:
        'the identity provider does not say that the e-mail address is verified (email_verified), so it is not believed: have it say so, or set emailTrusted if it hands out addresses itself',
    };
  const key = 'auth.userAuth.openId.scopes';
  return scopes.includes('email')
    ? {
        key,
        detail:
          'the identity provider gave no e-mail address although the scope email is asked for: allow it for the web app there, and give the person an address',
      }
    : {
        key,
        detail: `the identity provider gave no e-mail address, and none is asked for: add email to the scopes ${scopes.join(' ')}`,
      };
}
