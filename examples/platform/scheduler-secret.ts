/**
 * What the scheduler needs before it starts (requirement, "Errors", row 6).
 *
 * @module
 */

import type { ClientSecretSource } from '@sallyport/client';
import { formatConfigProblem, readClientConfig, readClientSecretFile } from '@sallyport/config';

/**
 * Looks for the mounted secret.
 *
 * @returns The cause for which the scheduler must not start; `undefined` when it may.
 */
export function findMissingMount(
  file: { readonly path: string; readonly text: string },
  source: ClientSecretSource | undefined,
): string | undefined {
  const read = readClientConfig({ file, env: {}, flags: {}, variables: new Map() });
  const key = 'secrets.adminOauthClientCredentials.enabled';
  if (!read.config.secrets.adminOauthClientCredentials.enabled)
    return formatConfigProblem({
      ...read.placeOf(key),
      key,
      found: 'false',
      expected: 'true: without it the secret core-secret-auth is not mounted',
    });
  if (source?.from !== 'file') return undefined;
  const secret = readClientSecretFile(source);
  return secret.ok ? undefined : `core-secret-auth: ${formatConfigProblem(secret.error)}`;
}
