/**
 * The client secret at the moment it is needed.
 *
 * @module
 */

import {
  type ConfigProblem,
  explainRefusedSecret,
  formatConfigProblem,
  readClientSecretFile,
} from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import type { ClientSecretSource } from './client-settings.ts';

/**
 * Reads the client secret.
 *
 * A file is opened anew each time, so that a rotated secret is used without a restart, and a wrong one that was put
 * right. Its value is the text without one newline at its end, which gives a warning.
 *
 * @param onWarning - Hears of a newline, white space or quotes around the value.
 *
 * @returns The secret, which the caller MUST NOT keep or print; or `client_secret_unavailable` with the line of
 *   what is wrong.
 */
export function readClientSecret(
  source: ClientSecretSource,
  onWarning: (warning: ConfigProblem) => void,
): Result<string, TokenRefusal> {
  if (source.from === 'text') return accept(source.secret.reveal());
  const read = readClientSecretFile(source);
  if (!read.ok)
    return refuse({
      error: 'client_secret_unavailable',
      description: formatConfigProblem(read.error),
      hint: 'The file is read again at each attempt: once it is put right, no restart is needed.',
    });
  for (const warning of read.value.warnings) onWarning(warning);
  return accept(read.value.secret);
}

/**
 * Adds to the identity provider's refusal of a client what the text of the secret's file shows to be wrong.
 *
 * @param warnings - What its reading gave, a newline that was left out included.
 *
 * @returns The refusal as it is where nothing shows.
 */
export function explainRefusal(
  refusal: TokenRefusal,
  source: ClientSecretSource,
  secret: string,
  warnings: readonly ConfigProblem[],
): TokenRefusal {
  if (source.from === 'text') return refusal;
  const findings = [...warnings, ...explainRefusedSecret(secret, source)];
  const lines = new Set(findings.map((finding) => formatConfigProblem(finding)));
  return lines.size === 0
    ? refusal
    : { ...refusal, description: [refusal.description.replace(/\.$/, ''), ...lines].join('; ') };
}
