/**
 * One issuer's metadata, fetched once for all that need it.
 *
 * @module
 */

import type { Schedule } from '../../time/schedule.ts';
import type { IssuerFetch } from '../issuer-request.ts';
import { RefreshedValue } from '../refreshed-value.ts';
import { findMissingMember, type IssuerDocument } from './authorization-server-document.ts';
import { IssuerMismatch } from './issuer-mismatch.ts';
import { fetchIssuerDocument, misbehaved } from './metadata-request.ts';

/** What a part of this service needs the metadata for. */
export interface MetadataUse {
  /** Members without which a document is of no use to it. */
  readonly needs: readonly string[];
  /** What else makes a document useless to it, as detail of an error. */
  readonly findProblem?: (document: IssuerDocument) => string | undefined;
  /** Called with each document that it can use. */
  readonly onDocument?: (document: IssuerDocument) => void;
  /** Called with the cause of each attempt that brought it no document. */
  readonly onFailure: (cause: unknown) => void;
}

/** The metadata as one use sees it. */
export interface FollowedMetadata {
  /** The last document that this use could take; fetched by this process. */
  readonly current: IssuerDocument | undefined;
  /**
   * The current document, or the outcome of one attempt to fetch it, shared by all callers. `undefined`
   * when that failed or took longer than five seconds, or when another attempt failed within the last second.
   */
  need(): Promise<IssuerDocument | undefined>;
}

/** Ports of {@link IssuerMetadata}. */
export interface IssuerMetadataPorts {
  readonly fetch: IssuerFetch;
  readonly now: () => number;
  readonly schedule: Schedule;
  readonly random?: (() => number) | undefined;
  /** The setting of that name; none when absent. */
  readonly dangerouslyAllowPlainHttpTo?: readonly string[] | undefined;
  /** Called with each document of another issuer, once for all uses, which are called as well. */
  readonly onMismatch?: ((mismatch: IssuerMismatch) => void) | undefined;
}

interface Use extends MetadataUse {
  current: IssuerDocument | undefined;
}

/** How long a request waits for the first document. */
const WAIT_MS = 5_000;
/** After a failed attempt no request causes another one for so long. */
const ATTEMPT_COOL_DOWN_MS = 1_000;

/** A document that one use cannot take; the use has been called with the reason. */
class UselessDocument extends Error {}

/**
 * Fetches an issuer's metadata from its first use on, keeps it fresh, and keeps for each use the last
 * document that it could take. While a document is bad for one of them the issuer is asked every few seconds.
 */
export class IssuerMetadata {
  readonly issuer: string;
  /** Where its document is fetched, in the order to ask. */
  readonly urls: readonly string[];
  readonly dangerouslyAllowPlainHttpTo: readonly string[] | undefined;
  readonly #ports: IssuerMetadataPorts;
  readonly #kept: RefreshedValue<IssuerDocument>;
  readonly #uses: Use[] = [];
  /** The last one that was read, whether or not all could take it. */
  #latest: IssuerDocument | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(issuer: string, urls: readonly string[], ports: IssuerMetadataPorts) {
    this.issuer = issuer;
    this.urls = urls;
    this.dangerouslyAllowPlainHttpTo = ports.dangerouslyAllowPlainHttpTo;
    this.#ports = ports;
    this.#kept = new RefreshedValue({
      schedule: ports.schedule,
      random: ports.random,
      load: async () =>
        this.#offer(
          await fetchIssuerDocument(issuer, urls, ports.fetch, ports.dangerouslyAllowPlainHttpTo),
        ),
      onLoaded: () => {},
      onFailure: (cause) => {
        this.#failedAt = ports.now();
        if (cause instanceof UselessDocument) return;
        if (cause instanceof IssuerMismatch) ports.onMismatch?.(cause);
        for (const { onFailure } of this.#uses) onFailure(cause);
      },
    });
  }

  /** Adds a use; the first one begins to fetch. */
  follow(given: MetadataUse): FollowedMetadata {
    const use: Use = { ...given, current: undefined };
    const isFirst = this.#uses.length === 0;
    this.#uses.push(use);
    if (isFirst) this.#kept.start();
    else if (this.#latest !== undefined) offerTo(use, this.#latest);
    return {
      get current() {
        return use.current;
      },
      need: () => this.#need(use),
    };
  }

  /** One attempt to fetch the document again, shared by all callers meanwhile. */
  reload(): Promise<void> {
    return this.#kept.reload();
  }

  /** Stops; what was fetched stays in use. */
  close(): void {
    this.#closed = true;
    this.#kept.close();
  }

  async #need(use: Use): Promise<IssuerDocument | undefined> {
    if (use.current !== undefined || this.#closed) return use.current;
    const { now, schedule } = this.#ports;
    // A clock that was set back must not stop the trying.
    if (Math.abs(now() - this.#failedAt) < ATTEMPT_COOL_DOWN_MS) return undefined;
    const { promise: timeUp, resolve } = Promise.withResolvers<undefined>();
    const cancel = schedule(WAIT_MS, () => resolve(undefined));
    await Promise.race([this.#kept.reload(), timeUp]);
    cancel();
    return use.current;
  }

  #offer(document: IssuerDocument): IssuerDocument {
    if (this.#closed) return document;
    this.#latest = document;
    const isUseful = this.#uses.map((use) => offerTo(use, document));
    if (isUseful.includes(false)) throw new UselessDocument();
    return document;
  }
}

function offerTo(use: Use, document: IssuerDocument): boolean {
  const missing = findMissingMember(document, use.needs);
  const problem =
    missing === undefined ? use.findProblem?.(document) : `the metadata names no ${missing}`;
  if (problem === undefined) {
    use.current = document;
    use.onDocument?.(document);
    return true;
  }
  use.onFailure(misbehaved(problem));
  return false;
}
