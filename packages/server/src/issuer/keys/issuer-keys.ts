/**
 * The keys of one issuer, for its id_tokens, access tokens and logout tokens alike: fetched, refreshed, kept
 * through an outage, never asked for too often.
 *
 * @module
 */

import type { KeyObject } from 'node:crypto';
import { SallyportError } from '@sallyport/protocol';
import type {
  FollowedMetadata,
  IssuerMetadata,
  IssuerMetadataPorts,
} from '../metadata/issuer-metadata.ts';
import { misbehaved } from '../metadata/metadata-request.ts';
import { RefreshedValue } from '../refreshed-value.ts';
import { AskingBudget, type AskingLimits } from './asking-budget.ts';
import { type KeySet, parseKeySet } from './key-set.ts';

/** Callbacks of a part of this service that uses the keys. */
export interface KeysUse {
  /** A key that was there is not any more: what it verified counts for nothing now. */
  readonly onKeyGone?: () => void;
  readonly onLoaded?: (keys: KeySet) => void;
  readonly onFailure: (cause: unknown) => void;
}

/** Where a token came from: the issuer itself, over TLS, or an unknown sender, who may have made it up. */
export type TokenOrigin = 'issuer' | 'stranger';

interface FetchedKeys {
  readonly keys: KeySet;
  readonly begunAt: number;
  /** The how manieth fetch it was. */
  readonly ordinal: number;
  readonly fetchedAt: number;
}

const BETWEEN_TWO_MS = 1_000;
const LIMITS: Readonly<Record<TokenOrigin, AskingLimits>> = {
  stranger: { perMinute: 5, distancesMs: [BETWEEN_TWO_MS, BETWEEN_TWO_MS, 5_000, 15_000] },
  // An unknown sender cannot cause such a fetch, and the issuer has already answered a token request for it.
  issuer: { perMinute: 20, distancesMs: [BETWEEN_TWO_MS] },
};
/** Undecided tokens whose first coming is kept in mind, and ids of withdrawn keys. */
const TOKENS_MAX = 10_000;
const FORMER_IDS_MAX = 200;
/** A set that was asked for no longer ago says enough about the keys whose ids it holds. */
const FRESH_MS = 30_000;
/** The last good set serves for so long while the issuer cannot give a new one. */
const KEPT_MS = 86_400_000;
const SERVER_ERROR = 500;

/**
 * Keeps an issuer's key set.
 *
 * It is refreshed every ten minutes. When it lacks what a token needs it is fetched anew at once, within a
 * budget for each origin of tokens: on account of strangers' five fetches in a minute, at least a second
 * apart. A fetch that fails leaves the last good set in use for a day at most.
 */
export class IssuerKeys {
  readonly #metadata: IssuerMetadata;
  readonly #ports: IssuerMetadataPorts;
  readonly #kept: RefreshedValue<FetchedKeys>;
  readonly #budgets: Readonly<Record<TokenOrigin, AskingBudget>>;
  readonly #uses: KeysUse[] = [];
  #located: FollowedMetadata | undefined;
  #address: string | undefined;
  #noMetadataBecause: unknown;
  /** Fingerprints and ids of the set before a fetch. */
  #known: ReadonlySet<string> = new Set();
  #knownIds: ReadonlySet<string> = new Set();
  readonly #formerIds = new Set<string>();
  readonly #cameAt = new Map<string, number>();
  #begun = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #closed = false;

  constructor(metadata: IssuerMetadata, ports: IssuerMetadataPorts) {
    const { now, schedule, random } = ports;
    this.#metadata = metadata;
    this.#ports = ports;
    this.#budgets = {
      issuer: new AskingBudget(now, LIMITS.issuer),
      stranger: new AskingBudget(now, LIMITS.stranger),
    };
    this.#kept = new RefreshedValue<FetchedKeys>({
      schedule,
      random,
      load: () => this.#load(),
      onFailure: (cause) => {
        this.#hasFailed = true;
        for (const { onFailure } of this.#uses) onFailure(cause);
      },
      onLoaded: ({ keys }) => this.#take(keys),
    });
  }

  /** Adds a use; the first one begins to fetch. */
  follow(use: KeysUse): void {
    this.#uses.push(use);
    if (this.#located !== undefined) return;
    this.#located = this.#metadata.follow({
      needs: ['jwks_uri'],
      onFailure: (cause) => {
        this.#noMetadataBecause = cause;
      },
      onDocument: ({ jwks_uri: address }) => {
        if (address !== this.#address && !this.#closed) void this.#kept.reload();
      },
    });
    this.#kept.start();
  }

  /** Keys that may have signed; `undefined` when no set is at hand that may still be used. */
  select(keyId: string | undefined, algorithm: string): readonly KeyObject[] | undefined {
    const { current } = this.#kept;
    if (current === undefined || this.#ports.now() - current.fetchedAt >= KEPT_MS) return undefined;
    return current.keys.select(keyId, algorithm);
  }

  /** Whether a key of this id is or was in the set, usable or not. */
  knows(keyId: string | undefined): boolean {
    if (keyId === undefined) return false;
    return this.#kept.current?.keys.keyIds.has(keyId) === true || this.#formerIds.has(keyId);
  }

  /** Whether the set was asked for within half a minute: it then says enough about keys that it knows. */
  get isFresh(): boolean {
    const { current } = this.#kept;
    return current !== undefined && isWithin(this.#ports.now() - current.begunAt, FRESH_MS);
  }

  /** How many fetches have begun: what a token that comes now has to be compared with. */
  get begun(): number {
    return this.#begun;
  }

  /** The number of fetches that had begun when a token first came. */
  firstCameAt(token: string): number {
    const known = this.#cameAt.get(token);
    if (known !== undefined) return known;
    const [oldest] = this.#cameAt.keys();
    if (oldest !== undefined && this.#cameAt.size >= TOKENS_MAX) this.#cameAt.delete(oldest);
    this.#cameAt.set(token, this.#begun);
    return this.#begun;
  }

  /** Whether the set that is known is from a fetch that began later. */
  hasLookedSince(begun: number): boolean {
    return (this.#kept.current?.ordinal ?? 0) > begun;
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

  /** Milliseconds until {@link ask} may fetch; 0 when it may now, or joins a fetch under way. */
  untilAskMs(origin: TokenOrigin): number {
    if (this.#kept.isLoading) return 0;
    const sinceMs = this.#ports.now() - this.#askedAt;
    const apartMs = isWithin(sinceMs, BETWEEN_TWO_MS) ? BETWEEN_TWO_MS - sinceMs : 0;
    return Math.max(apartMs, this.#budgets[origin].untilMs);
  }

  /**
   * Fetches the set because a token needs a key that it lacks, or joins the fetch that is under way, which
   * may miss a key that was published since it began.
   *
   * @returns Settles when the fetch ends, also with a failure; `undefined` when it is too early for one.
   */
  ask(origin: TokenOrigin): Promise<void> | undefined {
    if (this.#kept.isLoading) return this.#kept.reload();
    if (this.untilAskMs(origin) > 0) return undefined;
    const budget = this.#budgets[origin];
    budget.begin();
    this.#askedAt = this.#ports.now();
    const before = this.#known;
    return this.#kept.reload().then(() => budget.end(!isSame(before, this.#known)));
  }

  /** Fetches the set when the last attempt is 30 s old or older; settles when the fetch ends, also with a failure. */
  async freshen(): Promise<void> {
    if (!isWithin(this.#ports.now() - this.#attemptedAt, FRESH_MS)) await this.#kept.reload();
  }

  /** Stops; what was fetched stays in use. */
  close(): void {
    this.#closed = true;
    this.#kept.close();
  }

  #take(keys: KeySet): void {
    this.#hasFailed = false;
    for (const keyId of this.#knownIds) if (!keys.keyIds.has(keyId)) this.#formerIds.add(keyId);
    for (const keyId of this.#formerIds) {
      if (this.#formerIds.size <= FORMER_IDS_MAX) break;
      this.#formerIds.delete(keyId);
    }
    this.#knownIds = keys.keyIds;
    const isGone = [...this.#known].some((key) => !keys.fingerprints.has(key));
    this.#known = keys.fingerprints;
    for (const { onKeyGone, onLoaded } of this.#uses) {
      if (isGone) onKeyGone?.();
      onLoaded?.(keys);
    }
  }

  async #load(): Promise<FetchedKeys> {
    const { now } = this.#ports;
    const begunAt = now();
    this.#attemptedAt = begunAt;
    this.#begun += 1;
    const ordinal = this.#begun;
    const keys = await this.#fetch(await this.#locate(), true);
    return { keys, begunAt, ordinal, fetchedAt: now() };
  }

  async #locate(): Promise<string> {
    const address = (await this.#located?.need())?.jwks_uri;
    if (address !== undefined) return address;
    throw (
      this.#noMetadataBecause ??
      new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp', retryAfterSeconds: 5 })
    );
  }

  async #fetch(address: string, mayHaveMoved: boolean): Promise<KeySet> {
    this.#address = address;
    const response = await this.#ports.fetch(address, { headers: { accept: 'application/json' } });
    if (response.status !== 200) {
      const detail = `the key set was answered with status ${response.status}`;
      // A server that says of itself that it is broken says nothing about keys.
      if (response.status >= SERVER_ERROR)
        throw new SallyportError('SP_IDP_UNREACHABLE', {
          component: 'idp',
          detail,
          retryAfterSeconds: 5,
        });
      if (mayHaveMoved) await this.#metadata.reload();
      const moved = this.#located?.current?.jwks_uri;
      if (!mayHaveMoved || moved === undefined || moved === address) throw misbehaved(detail);
      return this.#fetch(moved, false);
    }
    const parsed = parseKeySet(await response.text());
    if (!parsed.ok) throw misbehaved(`the key set cannot be used: ${parsed.error}`);
    return parsed.value;
  }
}

/** A clock that was set back must not stop the looking. */
function isWithin(passedMs: number, limitMs: number): boolean {
  return passedMs >= 0 && passedMs < limitMs;
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}
