/**
 * The client secret at the moment it is needed.
 *
 * @module
 */

import { type ConfigProblem, formatConfigProblem, openSecretFile } from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import type { ClientSecretSource } from './client-settings.ts';

/**
 * Reads the client secret.
 *
 * A file is opened anew each time, so that a rotated secret is used without a restart. Its value is
 * the text without one newline at its end, which gives a warning, as for every secret file.
 *
 * @param onWarning - Hears of a newline or white space around the value.
 *
 * @returns The secret, which the caller MUST NOT keep or print; or `client_secret_unavailable`.
 */
export function readClientSecret(
  source: ClientSecretSource,
  onWarning: (warning: ConfigProblem) => void,
): Result<string, TokenRefusal> {
  if (source.from === 'text') return accept(source.secret.reveal());
  const opened = openSecretFile({
    path: source.path,
    key: source.key,
    secretKey: 'client_secret',
    trigger: () => () => {},
    onProblem: () => {},
    onWarning,
  });
  if (opened.ok) return accept(opened.value.current());
  return refuse({
    error: 'client_secret_unavailable',
    description: formatConfigProblem(opened.error),
    hint: 'Mount the secret with the key client_secret there, or wait until its synchronization has completed.',
  });
}
