/**
 * The keys that seal session records, sign-in attempts and `state`, and how a new one comes in.
 *
 * @module
 */

import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { SallyportError } from '@sallyport/protocol';

/** One key of the ring as the file holds it. */
export interface RingKey {
  /** Eight base64url characters; public, names the key inside what it sealed. */
  readonly kid: string;
  /** 32 random bytes, base64url. Secret. */
  readonly key: string;
  /** Epoch milliseconds from which this key seals; later than its appearance, so that every replica knows it by then. */
  readonly sealsFrom: number;
  /** Epoch milliseconds until which this key opens; absent: for as long as it stands in the file. */
  readonly opensUntil?: number;
}

/** Where the ring is kept. */
export interface KeyRingSource {
  /**
   * Reads the ring; a string that changes whenever the content may have changed lets the caller skip parsing.
   *
   * @throws When it cannot be read or is not a ring.
   */
  read(): { readonly version: string; readonly keys: readonly RingKey[] };
  /** A cheap look: the current version string without the content. */
  version(): string;
}

/** What a key of the ring is used for; each purpose has a key of its own, derived. */
export type KeyPurpose =
  | 'session-metadata'
  | 'session-tokens'
  | 'login-attempt'
  | 'state'
  | 'sign-out-state';

/** Why what a ring opens is another than before: its source, or a key whose `opensUntil` has come. */
export type KeyRingChange = 'source_changed' | 'key_ended';

/** How often the source is looked at while nothing asks for an unknown key. */
const POLL_MS = 1_000;
/** An unknown key id forces at most one re-read in this time, so that forged ids cannot cause a storm. */
const UNKNOWN_KID_COOL_DOWN_MS = 5_000;
const KID = /^[A-Za-z0-9_-]{8}$/;

/**
 * The ring in use: picks the sealing key, finds the opening key, follows the source.
 *
 * A source that becomes unreadable keeps the last good ring; only a ring that was never read is a
 * failure. Removing a key from the source refuses at once everything it sealed.
 */
export class KeyRing {
  readonly #source: KeyRingSource;
  readonly #now: () => number;
  readonly #onChange: (reason: KeyRingChange) => void;
  readonly #onProblem: (cause: unknown) => void;
  #isFailing = false;
  #version = '';
  #keys: readonly RingKey[] = [];
  #derived = new Map<string, KeyObject>();
  #polledAt = Number.NEGATIVE_INFINITY;
  #forcedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param onChange - Called after what the ring opens has changed; the caller bumps its generation.
   * @param onProblem - Called when a source that was readable no longer is.
   */
  constructor(
    source: KeyRingSource,
    options: {
      readonly now: () => number;
      readonly onChange: (reason: KeyRingChange) => void;
      readonly onProblem: (cause: unknown) => void;
    },
  ) {
    this.#source = source;
    this.#now = options.now;
    this.#onChange = options.onChange;
    this.#onProblem = options.onProblem;
  }

  /**
   * Looks whether the source changed; at most once a second, so that it may stand on the hot path.
   *
   * Never throws: with no ring at all the next {@link sealingKey} does.
   */
  poll(): void {
    const now = this.#now();
    // A clock that was set back must not stop the looking.
    const polledAt = this.#polledAt;
    if (now - polledAt < POLL_MS && now >= polledAt) return;
    this.#polledAt = now;
    // Nothing of the source changes when a key's time is over, but what it sealed counts no longer.
    const hasEnded = this.#keys.some((key) => this.#opens(key, polledAt) && !this.#opens(key, now));
    if (!this.#reload(false) && hasEnded) this.#onChange('key_ended');
  }

  /**
   * Whether a ring was read, now or before; until then no session cookie can be verified. Looks at the
   * source as {@link poll} does.
   */
  isKnown(): boolean {
    this.poll();
    return this.#keys.length > 0;
  }

  /**
   * The key that seals now: the youngest whose `sealsFrom` has come.
   *
   * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when no key may seal.
   */
  sealingKey(purpose: KeyPurpose): { readonly kid: string; readonly key: KeyObject } {
    this.poll();
    const now = this.#now();
    let best: RingKey | undefined;
    for (const key of this.#keys) {
      if (
        key.sealsFrom <= now &&
        this.#opens(key, now) &&
        (best === undefined || key.sealsFrom > best.sealsFrom)
      )
        best = key;
    }
    if (best === undefined)
      throw unusable(
        'no key of the ring may seal at this time; check the key ring file and the clock',
      );
    return { kid: best.kid, key: this.#derive(best, purpose) };
  }

  /**
   * The key of a given id, when it may still open.
   *
   * @param kid - Untrusted: read from a cookie, a parameter or a stored record.
   *
   * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when the ring was never read: then it is unknown
   *   whether the key exists, and "no" would end all sessions.
   */
  openingKey(kid: string, purpose: KeyPurpose): KeyObject | undefined {
    this.poll();
    const now = this.#now();
    let found = this.#keys.find((key) => key.kid === kid);
    if (found === undefined && KID.test(kid) && now - this.#forcedAt >= UNKNOWN_KID_COOL_DOWN_MS) {
      this.#forcedAt = now;
      this.#reload(true);
      found = this.#keys.find((key) => key.kid === kid);
    }
    if (this.#keys.length === 0)
      throw unusable('the key ring was never read; check the key ring file');
    return found !== undefined && this.#opens(found, now)
      ? this.#derive(found, purpose)
      : undefined;
  }

  /** Epoch milliseconds from which the key that seals now does; `undefined` when none may. Looks at no file. */
  get sealsSince(): number | undefined {
    const now = this.#now();
    const times = this.#keys
      .filter((key) => key.sealsFrom <= now && this.#opens(key, now))
      .map(({ sealsFrom }) => sealsFrom);
    return times.length === 0 ? undefined : Math.max(...times);
  }

  #opens(key: RingKey, now: number): boolean {
    return key.opensUntil === undefined || now < key.opensUntil;
  }

  /** Whether another set of keys was read. */
  #reload(force: boolean): boolean {
    try {
      if (!force && this.#version !== '' && this.#source.version() === this.#version) return false;
      const { version, keys } = this.#source.read();
      this.#isFailing = false;
      const changed = version !== this.#version;
      this.#version = version;
      this.#keys = keys;
      if (changed) {
        this.#derived = new Map();
        this.#onChange('source_changed');
      }
      return changed;
    } catch (cause) {
      if (!this.#isFailing) this.#onProblem(cause);
      this.#isFailing = true;
      return false;
    }
  }

  #derive(key: RingKey, purpose: KeyPurpose): KeyObject {
    const name = `${key.kid}/${purpose}`;
    let derived = this.#derived.get(name);
    if (derived === undefined) {
      const bytes = hkdfSync(
        'sha256',
        Buffer.from(key.key, 'base64url'),
        Buffer.alloc(0),
        `sallyport/v1/${purpose}`,
        32,
      );
      derived = createSecretKey(Buffer.from(bytes));
      this.#derived.set(name, derived);
    }
    return derived;
  }
}

function unusable(detail: string): SallyportError {
  return new SallyportError('SP_KEY_RING_UNUSABLE', {
    component: 'key-ring',
    detail,
    retryAfterSeconds: 5,
  });
}
