/**
 * `serve --check --online`: every issuer of the configuration, asked once who it is.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import {
  createIssuerFetch,
  fetchIssuerDocument,
  IssuerMismatch,
  listMetadataUrls,
} from '@sallyport/server/issuer';
import { describeFailure } from '@sallyport/server/observe';
import { findNetworkCause } from '../terminal/network-cause.ts';

/** What an issuer answered. */
export interface AskedIssuer {
  readonly configured: string;
  /** What its metadata name, as text; `null` where none could be read. */
  readonly found: string | null;
  readonly outcome: 'same' | 'differs' | 'unusable';
  /** Empty for the same. */
  readonly detail: string;
}

/** Asks each issuer once, sign-in first. Its metadata are read and nothing is kept. Never rejects. */
export function askIssuers(config: Config, send: typeof fetch): Promise<readonly AskedIssuer[]> {
  const fetchIssuer = createIssuerFetch({ fetch: send });
  const urlsByIssuer = new Map<string, readonly string[]>();
  for (const [issuer, metadataUrl] of listIssuers(config))
    urlsByIssuer.set(`${issuer} ${metadataUrl}`, [
      issuer,
      ...listMetadataUrls(issuer, metadataUrl),
    ]);
  return Promise.all(
    [...urlsByIssuer.values()].map(async ([configured = '', ...urls]) => {
      try {
        await fetchIssuerDocument(
          configured,
          urls,
          fetchIssuer,
          config.dangerouslyAllowPlainHttpTo,
        );
        return { configured, found: configured, outcome: 'same' as const, detail: '' };
      } catch (cause) {
        return explain(configured, cause);
      }
    }),
  );
}

function listIssuers({ auth, bearer, server }: Config): readonly (readonly [string, string])[] {
  if (!server.security.useAuth) return [];
  const { baseUrl, metadataUrl } = auth.appAuth.externalAuthServer;
  return [
    [auth.userAuth.openId.baseUrl, ''],
    [baseUrl, metadataUrl],
    ...bearer.issuers.map(({ issuer, metadataUrl: url }) => [issuer, url] as const),
  ];
}

function explain(configured: string, cause: unknown): AskedIssuer {
  if (cause instanceof IssuerMismatch) {
    const found = typeof cause.found === 'string' ? cause.found : null;
    return { configured, found, outcome: 'differs', detail: cause.detail };
  }
  const network = findNetworkCause(cause);
  const detail = network?.why ?? describeFailure(cause);
  return { configured, found: null, outcome: 'unusable', detail };
}
