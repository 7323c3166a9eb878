/**
 * A token in the form that was asked for.
 *
 * @module
 */

import type { TokenSet } from '@sallyport/client';
import { buildExecCredential } from './exec-credential.ts';

/** Forms of the command line. */
export interface TokenForm {
  readonly header?: boolean;
  readonly execCredential?: boolean;
  readonly json?: boolean;
}

/** Puts the token into one line, and nothing else. */
export function formatToken(
  { accessToken, expiresAt }: TokenSet,
  header: string,
  form: TokenForm,
): string {
  if (form.execCredential === true)
    return JSON.stringify(buildExecCredential(accessToken, expiresAt));
  if (form.json === true)
    return JSON.stringify({
      access_token: accessToken,
      expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
      token_type: 'Bearer',
      header,
    });
  return form.header === true ? `${header}: Bearer ${accessToken}` : accessToken;
}
