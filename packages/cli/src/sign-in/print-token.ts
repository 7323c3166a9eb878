/**
 * A token in the form that was asked for.
 *
 * @module
 */

import type { TokenSet } from '@sallyport/client';
import type { Stdio } from '../terminal/stdio.ts';
import { buildExecCredential } from './exec-credential.ts';

/** Forms of the command line. */
export interface TokenForm {
  readonly header?: boolean;
  readonly execCredential?: boolean;
  readonly json?: boolean;
}

/** Prints the token on stdout, and nothing else. */
export function printToken(
  { accessToken, expiresAt }: TokenSet,
  header: string,
  form: TokenForm,
  stdio: Stdio,
): void {
  if (form.execCredential === true) {
    stdio.out(JSON.stringify(buildExecCredential(accessToken, expiresAt)));
  } else if (form.json === true) {
    stdio.out(
      JSON.stringify({
        access_token: accessToken,
        expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
        token_type: 'Bearer',
        header,
      }),
    );
  } else stdio.out(form.header === true ? `${header}: Bearer ${accessToken}` : accessToken);
}
