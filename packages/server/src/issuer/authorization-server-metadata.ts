/**
 * The authorization servers' public documents, in memory, fresh, and there again after a restart.
 *
 * @module
 */

import { hash } from 'node:crypto';
import { join } from 'node:path';
import { SallyportError } from '@sallyport/protocol';
import { describeFailure, type Log } from '../observe/log/log.ts';
import {
  type AuthorizationServerDocument,
  parseAuthorizationServerDocument,
} from './authorization-server-document.ts';
import { createIdpFetch } from './idp-fetch.ts';
import { KeptMetadata, type Schedule } from './idp-metadata.ts';
import {
  type DocumentOrigin,
  KEPT_DOCUMENT_MAX_AGE_MS,
  type KeptDocument,
  readKeptDocument,
  writeKeptDocument,
} from './kept-document-file.ts';

/** One server's document. */
export interface AuthorizationServerMetadata {
  readonly issuer: string;
  /** What is known now; the same object until a refresh brings another. */
  readonly current: AuthorizationServerDocument | undefined;
  /**
   * What is known, or the result of one attempt to learn it that is shared by all who ask.
   * `undefined` when that failed, took too long, or another has just failed.
   */
  need(): Promise<AuthorizationServerDocument | undefined>;
  /** Calls back with each document that differs from the one before; at once when one is known. */
  onChange(listener: (document: AuthorizationServerDocument) => void): void;
}

/** Ports of {@link createMetadataSource}. */
export interface MetadataSourceOptions {
  readonly fetch: typeof fetch;
  readonly now: () => number;
  readonly schedule: Schedule;
  readonly log: Log;
  /** Folder of the kept documents; `undefined` keeps none. */
  readonly folder: string | undefined;
}

/** Every server whose document somebody needs. */
export interface MetadataSource {
  /**
   * The document of an issuer. Everybody who names the same issuer and address shares one, and the
   * first who does begins to fetch it.
   *
   * @param metadataUrl - Where its document is; empty for the two registered places, that of OpenID
   *   Connect Discovery section 4 and, when there is none, that of RFC 8414 section 3.
   */
  of(issuer: string, metadataUrl?: string): AuthorizationServerMetadata;
  close(): void;
}

const TIMEOUT_MS = 10_000;
const BODY_MAX_BYTES = 1_048_576;
/** How long somebody who asks waits for the first document. */
const WAIT_MS = 5_000;
/** After a failed attempt nobody who asks causes another one for so long. */
const ATTEMPT_COOL_DOWN_MS = 1_000;

/** Creates the source; nothing is fetched before somebody names a server. */
export function createMetadataSource(options: MetadataSourceOptions): MetadataSource {
  const serverByAddress = new Map<string, AuthorizationServer>();
  return {
    of(issuer, metadataUrl = '') {
      const addresses = listAddresses(issuer, metadataUrl);
      const key = [issuer, ...addresses].join(' ');
      let server = serverByAddress.get(key);
      if (server === undefined) {
        server = new AuthorizationServer(issuer, addresses, options);
        serverByAddress.set(key, server);
      }
      return server;
    },
    close() {
      for (const server of serverByAddress.values()) server.close();
    },
  };
}

/**
 * In the order to ask.
 *
 * @see [Discovery section 4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig) appended to the issuer
 * @see [RFC 8414 section 3](https://www.rfc-editor.org/rfc/rfc8414#section-3) put between host and path
 */
function listAddresses(issuer: string, metadataUrl: string): readonly string[] {
  if (metadataUrl !== '') return [metadataUrl];
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

class AuthorizationServer implements AuthorizationServerMetadata {
  readonly issuer: string;
  readonly #addresses: readonly string[];
  readonly #options: MetadataSourceOptions;
  readonly #path: string | undefined;
  readonly #fetched: KeptMetadata<KeptDocument>;
  readonly #listeners: ((document: AuthorizationServerDocument) => void)[] = [];
  /** From the last run; gone when it is too old or a fetched one is there. */
  #restored: KeptDocument | undefined;
  /** The text of what listeners were told. */
  #told: string | undefined;
  #latest: AuthorizationServerDocument | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(issuer: string, addresses: readonly string[], options: MetadataSourceOptions) {
    const { fetch, now, schedule, folder, log } = options;
    this.issuer = issuer;
    this.#addresses = addresses;
    this.#options = options;
    // Named by what it is of: two servers never share a file, and no name comes from outside.
    const name = hash('sha256', [issuer, ...addresses].join(' '), 'hex').slice(0, 32);
    this.#path =
      folder === undefined ? undefined : join(folder, `authorization-server-${name}.json`);
    const idp = createIdpFetch({
      fetch,
      now,
      timeoutMs: TIMEOUT_MS,
      bodyMaxBytes: BODY_MAX_BYTES,
    });
    this.#fetched = new KeptMetadata({
      load: () => this.#load(idp.fetch),
      schedule,
      onFailure: (cause) => {
        this.#failedAt = now();
        log('warn', 'authorization_server_metadata_failed', {
          issuer,
          failure: describeFailure(cause),
        });
      },
      onLoaded: (kept) => this.#keep(kept),
    });
    this.#restore();
    this.#fetched.start();
  }

  get current(): AuthorizationServerDocument | undefined {
    if (this.#fetched.current !== undefined) return this.#latest;
    if (this.#restored === undefined) return undefined;
    const isOld = this.#options.now() - this.#restored.fetchedAt > KEPT_DOCUMENT_MAX_AGE_MS;
    return isOld ? undefined : this.#latest;
  }

  async need(): Promise<AuthorizationServerDocument | undefined> {
    const { current } = this;
    if (current !== undefined || this.#closed) return current;
    // A clock that was set back must not stop the trying.
    const sinceFailure = Math.abs(this.#options.now() - this.#failedAt);
    if (sinceFailure < ATTEMPT_COOL_DOWN_MS) return undefined;
    const { promise: timeUp, resolve } = Promise.withResolvers<undefined>();
    const cancel = this.#options.schedule(WAIT_MS, () => resolve(undefined));
    await Promise.race([this.#fetched.need(), timeUp]);
    cancel();
    return this.current;
  }

  onChange(listener: (document: AuthorizationServerDocument) => void): void {
    this.#listeners.push(listener);
    const { current } = this;
    if (current !== undefined) listener(current);
  }

  close(): void {
    this.#closed = true;
    this.#fetched.close();
  }

  async #load(
    request: (url: string, init: RequestInit) => Promise<Response>,
  ): Promise<KeptDocument> {
    let response: Response | undefined;
    for (const address of this.#addresses) {
      response = await request(address, { headers: { accept: 'application/json' } });
      // Only who says that there is nothing here is asked for the other place.
      if (response.status !== 404) break;
    }
    if (response?.status !== 200)
      throw this.#misbehaved(`its metadata was answered with status ${response?.status}`);
    const parsed = parseAuthorizationServerDocument(await response.text(), this.issuer);
    if (!parsed.ok)
      throw this.#misbehaved(`${parsed.error.member} of its metadata: ${parsed.error.problem}`);
    return { document: parsed.value, fetchedAt: this.#options.now() };
  }

  get #origin(): DocumentOrigin {
    return { issuer: this.issuer, address: this.#addresses[0] ?? '' };
  }

  #misbehaved(detail: string): SallyportError {
    return new SallyportError('SP_IDP_PROTOCOL', { component: 'idp', detail });
  }

  #restore(): void {
    if (this.#path === undefined) return;
    const { now, log } = this.#options;
    const kept = readKeptDocument(this.#path, this.#origin, now());
    if (kept.ok) {
      this.#restored = kept.value;
      this.#tell(kept.value.document);
      log('info', 'kept_metadata_read', { issuer: this.issuer });
    } else if (kept.error !== 'absent') {
      log('warn', 'kept_metadata_ignored', { issuer: this.issuer, problem: kept.error });
    }
  }

  #keep(kept: KeptDocument): void {
    const { log } = this.#options;
    this.#restored = undefined;
    this.#tell(kept.document);
    if (this.#path === undefined) return;
    writeKeptDocument(this.#path, this.#origin, kept).catch((cause: unknown) =>
      log('warn', 'metadata_not_kept', {
        issuer: this.issuer,
        failure: describeFailure(cause),
      }),
    );
  }

  /** Keeps the object when nothing changed, so that what was prepared from it stays good. */
  #tell(document: AuthorizationServerDocument): void {
    const text = JSON.stringify(document);
    if (text === this.#told) return;
    this.#told = text;
    this.#latest = document;
    for (const listener of this.#listeners) listener(document);
  }
}
