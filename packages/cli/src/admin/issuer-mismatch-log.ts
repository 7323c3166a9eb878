/**
 * The log line of an issuer that names itself otherwise than it is configured.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import { withoutUnprintable } from '@sallyport/protocol';
import type { IssuerMismatch } from '@sallyport/server/issuer';
import type { Log } from '@sallyport/server/observe';

/** It is asked every few seconds until it is mended. */
const BETWEEN_LINES_MS = 60_000;
const FOUND_MAX_LENGTH = 200;

/**
 * Creates the log: both values side by side and the settings that hold the configured one, at most once a minute for each
 * configured issuer, whatever part of the service asked it.
 */
export function logIssuerMismatch(
  config: Config,
  log: Log,
  now: () => number,
): (mismatch: IssuerMismatch) => void {
  const loggedAt = new Map<string, number>();
  return ({ configured, found, detail }) => {
    const last = loggedAt.get(configured);
    // A clock that was set back must not silence it.
    if (last !== undefined && Math.abs(now() - last) < BETWEEN_LINES_MS) return;
    loggedAt.set(configured, now());
    log('error', 'issuer_mismatch', {
      issuer: configured,
      found:
        typeof found === 'string' ? withoutUnprintable(found.slice(0, FOUND_MAX_LENGTH)) : null,
      keys: listKeys(config, configured),
      detail,
    });
  };
}

/** Settings that name an issuer. */
function listKeys({ auth, bearer }: Config, issuer: string): readonly string[] {
  const named: readonly (readonly [string, string])[] = [
    ['auth.userAuth.openId.baseUrl', auth.userAuth.openId.baseUrl],
    ['auth.appAuth.externalAuthServer.baseUrl', auth.appAuth.externalAuthServer.baseUrl],
    ...bearer.issuers.map(
      ({ issuer: each }, index) => [`bearer.issuers[${index}].issuer`, each] as const,
    ),
  ];
  return named.filter(([, value]) => value === issuer).map(([key]) => key);
}
