/**
 * The keys of one issuer: fetched, refreshed, kept through an outage, never asked for too often.
 *
 * @module
 */

import type { KeyObject } from 'node:crypto';
import { SallyportError } from '@sallyport/protocol';
import { KeptMetadata, type Schedule } from '../issuer/idp-metadata.ts';
import type { IssuerFetch } from './issuer-metadata.ts';
import { type KeySet, parseKeySet } from './key-set.ts';

/** Dependencies of {@link IssuerKeys}. */
export interface IssuerKeysOptions {
  /** Finds the address of the key set. @throws When the issuer is down or answers nonsense. */
  readonly locate: () => Promise<string>;
  readonly fetch: IssuerFetch;
  /** What the keys are for, in the words of an error: `idp:bearer`. */
  readonly component: string;
  readonly now: () => number;
  readonly schedule: Schedule;
  /** Told when a key that was there is not any more: what it verified counts for nothing now. */
  readonly onKeyGone: () => void;
  readonly onLoaded: (keys: KeySet) => void;
  readonly onFailure: (cause: unknown) => void;
}

interface FetchedKeys {
  readonly keys: KeySet;
  readonly fetchedAt: number;
}

/** Tokens, forged or not, cause one fetch in this time, also while the IdP is down. */
const COOL_DOWN_MS = 30_000;
/** The last good set serves for so long while the IdP cannot give a new one. */
const KEPT_MS = 86_400_000;

/**
 * Keeps an issuer's key set.
 *
 * It is refreshed every ten minutes. When it lacks what a token needs it is fetched anew, once per
 * cool-down. A fetch that fails leaves the last good set in use for a day at most.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #kept: KeptMetadata<FetchedKeys>;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #hasFailed = false;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    let known: ReadonlySet<string> = new Set();
    this.#kept = new KeptMetadata<FetchedKeys>({
      load: () => this.#fetch(),
      schedule: options.schedule,
      onFailure: (cause) => {
        this.#hasFailed = true;
        options.onFailure(cause);
      },
      onLoaded: ({ keys }) => {
        this.#hasFailed = false;
        const isGone = [...known].some((key) => !keys.fingerprints.has(key));
        known = keys.fingerprints;
        if (isGone) options.onKeyGone();
        options.onLoaded(keys);
      },
    });
  }

  /** Begins to fetch. */
  start(): void {
    this.#kept.start();
  }

  /** Keys that may have signed; `undefined` when no set is at hand that may still be used. */
  select(keyId: string | undefined, algorithm: string): readonly KeyObject[] | undefined {
    const { current } = this.#kept;
    if (current === undefined || this.#options.now() - current.fetchedAt >= KEPT_MS)
      return undefined;
    return current.keys.select(keyId, algorithm);
  }

  /** Whether a set was ever read. */
  get isKnown(): boolean {
    return this.#kept.current !== undefined;
  }

  /** Epoch milliseconds of the last good fetch; `undefined` before the first. */
  get fetchedAt(): number | undefined {
    return this.#kept.current?.fetchedAt;
  }

  /** Whether the last attempt failed, so that a key not held may exist all the same. */
  get isOutdated(): boolean {
    return this.#hasFailed;
  }

  /** Milliseconds until {@link renew} may fetch; 0 when it may now, or joins a fetch under way. */
  get coolDownMs(): number {
    // A clock that was set back must not stop the looking.
    const passedMs = Math.abs(this.#options.now() - this.#attemptedAt);
    return this.#inFlight > 0 ? 0 : Math.max(0, COOL_DOWN_MS - passedMs);
  }

  /**
   * Fetches the set because a token needs another one.
   *
   * @returns Settles with the attempt, whatever becomes of it. `undefined` when it is too early for
   *   one: the caller has to decide with what there is.
   */
  renew(): Promise<unknown> | undefined {
    return this.coolDownMs > 0 ? undefined : this.#kept.reload();
  }

  /** Stops; what was fetched stays in use. */
  close(): void {
    this.#kept.close();
  }

  async #fetch(): Promise<FetchedKeys> {
    const { locate, fetch, now } = this.#options;
    this.#attemptedAt = now();
    this.#inFlight += 1;
    try {
      const response = await fetch(await locate(), { headers: { accept: 'application/json' } });
      if (response.status !== 200)
        throw this.#misbehaved(`the key set was answered with status ${response.status}`);
      const parsed = parseKeySet(await response.text());
      if (!parsed.ok) throw this.#misbehaved(`the key set cannot be used: ${parsed.error}`);
      return { keys: parsed.value, fetchedAt: now() };
    } finally {
      this.#inFlight -= 1;
    }
  }

  #misbehaved(detail: string): SallyportError {
    const { component } = this.#options;
    return new SallyportError('SP_IDP_PROTOCOL', { component, detail });
  }
}
