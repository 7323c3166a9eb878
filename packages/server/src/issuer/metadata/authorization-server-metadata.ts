/**
 * The metadata documents that clients are given: kept in memory, and on disk for a restart while the issuer is down.
 *
 * @module
 */

import { hash } from 'node:crypto';
import { join } from 'node:path';
import { describeFailure, type Log } from '../../log/log.ts';
import type { Issuers } from '../issuers.ts';
import type {
  AuthorizationServerDocument,
  IssuerDocument,
} from './authorization-server-document.ts';
import type { FollowedMetadata, IssuerMetadata } from './issuer-metadata.ts';
import { IssuerMismatch } from './issuer-mismatch.ts';
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
  /** The document now; the same object until a refresh brings another. */
  readonly current: AuthorizationServerDocument | undefined;
  /**
   * The document, or the result of one attempt to fetch it that all callers share.
   * `undefined` when that failed, took too long, or another attempt has just failed.
   */
  need(): Promise<AuthorizationServerDocument | undefined>;
  /** Calls back with each document that differs from the one before; at once when one is known. */
  onChange(listener: (document: AuthorizationServerDocument) => void): void;
}

/** Ports of {@link createMetadataSource}. */
export interface MetadataSourceOptions {
  readonly issuers: Issuers;
  readonly now: () => number;
  readonly log: Log;
  /** Folder of the kept documents; `undefined` keeps none. */
  readonly folder: string | undefined;
}

/** The servers whose metadata clients are given. */
export interface MetadataSource {
  /**
   * The document of an issuer. The same issuer and address have one, and the first use begins to fetch it.
   *
   * @param metadataUrl - Where its document is; empty for the two registered places.
   */
  of(issuer: string, metadataUrl?: string): AuthorizationServerMetadata;
}

/** Creates the source; nothing is fetched before a server is named. */
export function createMetadataSource(options: MetadataSourceOptions): MetadataSource {
  const serverByMetadata = new Map<IssuerMetadata, AuthorizationServer>();
  return {
    of(issuer, metadataUrl) {
      const { metadata } = options.issuers.of(issuer, metadataUrl);
      let server = serverByMetadata.get(metadata);
      if (server === undefined) {
        server = new AuthorizationServer(metadata, options);
        serverByMetadata.set(metadata, server);
      }
      return server;
    },
  };
}

class AuthorizationServer implements AuthorizationServerMetadata {
  readonly issuer: string;
  readonly #metadata: IssuerMetadata;
  readonly #options: MetadataSourceOptions;
  readonly #path: string | undefined;
  readonly #fetched: FollowedMetadata;
  readonly #listeners: ((document: AuthorizationServerDocument) => void)[] = [];
  /** From the last run; gone when it is too old or a fetched one is there. */
  #restored: KeptDocument | undefined;
  /** The text of the document that listeners have. */
  #published: string | undefined;
  #latest: AuthorizationServerDocument | undefined;

  constructor(metadata: IssuerMetadata, options: MetadataSourceOptions) {
    const { folder, log } = options;
    const { issuer, urls } = metadata;
    this.issuer = issuer;
    this.#metadata = metadata;
    this.#options = options;
    // Named by what it is of: two servers never share a file, and no name comes from outside.
    const name = hash('sha256', [issuer, ...urls].join(' '), 'hex').slice(0, 32);
    this.#path =
      folder === undefined ? undefined : join(folder, `authorization-server-${name}.json`);
    this.#restore();
    this.#fetched = metadata.follow({
      needs: ['authorization_endpoint', 'token_endpoint'],
      onDocument: (document) => this.#keep(document),
      onFailure: (cause) => {
        // Logged once for all that ask this issuer.
        if (cause instanceof IssuerMismatch) return;
        log('warn', 'authorization_server_metadata_failed', {
          issuer,
          failure: describeFailure(cause),
        });
      },
    });
  }

  get current(): AuthorizationServerDocument | undefined {
    if (this.#restored === undefined) return this.#latest;
    const isOld = this.#options.now() - this.#restored.fetchedAt > KEPT_DOCUMENT_MAX_AGE_MS;
    return isOld ? undefined : this.#latest;
  }

  async need(): Promise<AuthorizationServerDocument | undefined> {
    const { current } = this;
    if (current !== undefined) return current;
    await this.#fetched.need();
    return this.current;
  }

  onChange(listener: (document: AuthorizationServerDocument) => void): void {
    this.#listeners.push(listener);
    const { current } = this;
    if (current !== undefined) listener(current);
  }

  get #origin(): DocumentOrigin {
    const { issuer, urls, dangerouslyAllowPlainHttpTo } = this.#metadata;
    return { issuer, address: urls[0] ?? '', dangerouslyAllowPlainHttpTo };
  }

  #restore(): void {
    if (this.#path === undefined) return;
    const { now, log } = this.#options;
    const kept = readKeptDocument(this.#path, this.#origin, now());
    if (kept.ok) {
      this.#restored = kept.value;
      this.#publish(kept.value.document);
      log('info', 'kept_metadata_read', { issuer: this.issuer });
    } else if (kept.error !== 'absent') {
      log('warn', 'kept_metadata_ignored', { issuer: this.issuer, problem: kept.error });
    }
  }

  #keep(fetched: IssuerDocument): void {
    const { log, now } = this.#options;
    // It has both members: they are needed.
    const document = fetched as AuthorizationServerDocument;
    this.#restored = undefined;
    this.#publish(document);
    if (this.#path === undefined) return;
    const kept = { document, fetchedAt: now() };
    writeKeptDocument(this.#path, this.#origin, kept).catch((cause: unknown) =>
      log('warn', 'metadata_not_kept', {
        issuer: this.issuer,
        failure: describeFailure(cause),
      }),
    );
  }

  /** Keeps the object when nothing changed, so that what was prepared from it stays good. */
  #publish(document: AuthorizationServerDocument): void {
    const text = JSON.stringify(document);
    if (text === this.#published) return;
    this.#published = text;
    this.#latest = document;
    for (const listener of this.#listeners) listener(document);
  }
}
