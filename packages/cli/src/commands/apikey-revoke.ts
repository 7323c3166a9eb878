/**
 * `sallyport apikey revoke`: ends one API key.
 *
 * @module
 */

import { ACCESS_TOKEN_SECONDS } from '@sallyport/idp/api-keys';
import { formatDuration } from '@sallyport/protocol';
import { type IssuerOptions, openIssuer } from '../api-keys/open-issuer.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** How long an access token that was issued before stays valid. */
const TOKENS_END_WITHIN = formatDuration(ACCESS_TOKEN_SECONDS * 1_000);

/**
 * Removes the client of a key. Access tokens that it has are not ended: they stay valid until they end by themselves.
 *
 * @param clientId - Untrusted. It is not repeated when it is of no client: a whole key holds a secret.
 */
export async function revokeApiKey(
  clientId: string,
  options: IssuerOptions,
  stdio: Stdio,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const opened = await openIssuer(options, stdio);
  if (!opened.ok) return reportFailure(opened.error, isJson, stdio);
  if (!(await opened.value.issuer.revoke(clientId)))
    return reportFailure(
      {
        error: 'not_found',
        description: 'there is no API key with this client ID',
        hint: 'Compare it with "sallyport apikey list".',
        exitCode: EXIT.failure,
      },
      isJson,
      stdio,
    );
  if (isJson)
    stdio.out(JSON.stringify({ ok: true, clientId, tokensEndWithinSeconds: ACCESS_TOKEN_SECONDS }));
  else
    stdio.out(
      `${clientId} is revoked and gets no token; tokens that it has end within ${TOKENS_END_WITHIN}`,
    );
  return EXIT.ok;
}
