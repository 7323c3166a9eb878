/**
 * All issuers that this service asks: one metadata document and one key cache for each.
 *
 * @module
 */

import type { Schedule } from '../time/schedule.ts';
import { createIssuerFetch } from './issuer-request.ts';
import { IssuerKeys } from './keys/issuer-keys.ts';
import { IssuerMetadata } from './metadata/issuer-metadata.ts';
import type { IssuerMismatch } from './metadata/issuer-mismatch.ts';
import { listMetadataUrls } from './metadata/metadata-request.ts';

/** Ports of {@link createIssuers}. */
export interface IssuersOptions {
  readonly fetch: typeof fetch;
  readonly now: () => number;
  readonly schedule: Schedule;
  /** At least 0, below 1; by default the runtime's. */
  readonly random?: () => number;
  /** Origins that issuers and their endpoints may be at over plain http, beyond the loopback. */
  readonly dangerouslyAllowPlainHttpTo?: readonly string[];
  /** Called with each metadata document of another issuer. */
  readonly onMismatch?: (mismatch: IssuerMismatch) => void;
}

/** One issuer. */
export interface Issuer {
  readonly metadata: IssuerMetadata;
  /** One key cache for id_tokens, access tokens and logout tokens. */
  readonly keys: IssuerKeys;
}

/** The issuers. */
export interface Issuers {
  /**
   * An issuer. All that name the same issuer and address share one; nothing is fetched before it is used.
   *
   * @param metadataUrl - Where its document is, as `listMetadataUrls` takes it.
   */
  of(issuer: string, metadataUrl?: string): Issuer;
  /** Stops; what was fetched stays in use. */
  close(): void;
}

/** Creates them; nothing is fetched before one is named and used. */
export function createIssuers(options: IssuersOptions): Issuers {
  const issuerByAddress = new Map<string, Issuer>();
  const ports = { ...options, fetch: createIssuerFetch(options) };
  return {
    of(issuer, metadataUrl = '') {
      const urls = listMetadataUrls(issuer, metadataUrl);
      const key = JSON.stringify([issuer, ...urls]);
      const known = issuerByAddress.get(key);
      if (known !== undefined) return known;
      const metadata = new IssuerMetadata(issuer, urls, ports);
      const made = { metadata, keys: new IssuerKeys(metadata, ports) };
      issuerByAddress.set(key, made);
      return made;
    },
    close() {
      for (const { metadata, keys } of issuerByAddress.values()) {
        keys.close();
        metadata.close();
      }
    },
  };
}
