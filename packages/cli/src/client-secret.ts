/**
 * The web application's secret, from its file, as the relying party needs it.
 *
 * @module
 */

import {
  type ConfigProblem,
  formatConfigProblem,
  openSecretFile,
  rereadEvery,
  type SecretFile,
} from '@sallyport/config';
import type { Result } from '@sallyport/protocol';
import type { Log } from '@sallyport/server';

/** A changed file is used within this time; a mounted Kubernetes Secret takes longer itself. */
const REREAD_MS = 2_000;

/** Opens the file; what goes wrong later is logged, and the last good value stays. */
export function openClientSecret(path: string, log: Log): Result<SecretFile, ConfigProblem> {
  return openSecretFile({
    path,
    key: 'auth.userAuth.openId.clientSecretFile',
    secretKey: 'oidc_client_secret',
    trigger: rereadEvery(REREAD_MS),
    onProblem: (problem) => log('error', 'secret_file', { problem: formatConfigProblem(problem) }),
    onWarning: (problem) => log('warn', 'secret_file', { problem: formatConfigProblem(problem) }),
  });
}
