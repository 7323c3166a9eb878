/**
 * A sign-in under way: four cookie slots, and the `state` that ties an answer to one of them.
 *
 * @module
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readCookies, serializeSetCookie } from '@sallyport/protocol';
import type { KeyRing } from '../session/key-ring.ts';
import { openText, sealText } from '../session/seal.ts';
import type { CookieSettings } from '../session/session-cookie.ts';

/** How long a person may take at the IdP. */
export const ATTEMPT_LIFE_MS = 600_000;
/** An attempt that was lost is started again this often, then the page says why. */
const MAX_RESTARTS = 1;
/** How long a tab waits for another one's sign-in before the page says that its own is gone. */
const AWAIT_OTHER_MS = 20_000;
const STATE_CONTEXT = { purpose: 'state', binding: '' } as const;

/** What the browser keeps of an attempt, sealed in one of the four cookies. */
export interface Attempt {
  readonly slot: number;
  /** 32 random bytes; `state` holds their hash. Secret. */
  readonly secret: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly startedAt: number;
}

/** What `state` carries through the IdP and back, sealed. */
export interface AttemptState {
  /** Hash of the attempt's secret; names the attempt. */
  readonly attempt: string;
  readonly slot: number;
  /** How often this sign-in was started again after its attempt was gone. */
  readonly restarts: number;
  /** Absolute URL, allowed when it was sealed; checked again when it is used. */
  readonly target: string;
  readonly startedAt: number;
}

/** A new attempt: what to send to the IdP, and what to set in the browser. */
export interface StartedAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly codeChallenge: string;
  readonly setCookie: string;
}

/** Dependencies of {@link Attempts}. */
export interface AttemptDependencies {
  readonly ring: KeyRing;
  readonly cookies: CookieSettings;
  readonly now: () => number;
}

/**
 * Starts attempts and finds them again. Keeps nothing on the server: tabs finish in any order, and a
 * fifth tab takes the place of the oldest.
 */
export class Attempts {
  readonly #ring: KeyRing;
  readonly #cookies: CookieSettings;
  readonly #now: () => number;

  constructor({ ring, cookies, now }: AttemptDependencies) {
    this.#ring = ring;
    this.#cookies = cookies;
    this.#now = now;
  }

  /**
   * Starts an attempt in a free slot, or the oldest one's.
   *
   * @param cookieHeader - What the browser sent. Untrusted: a slot whose cookie does not open is free.
   * @param restarts - 0 for a fresh sign-in.
   */
  start(cookieHeader: string | undefined, target: string, restarts: number): StartedAttempt {
    const startedAt = this.#now();
    const slot = this.#selectSlot(cookieHeader);
    const secret = randomBytes(32).toString('base64url');
    const nonce = randomBytes(16).toString('base64url');
    const codeVerifier = randomBytes(32).toString('base64url');
    const attempt: Omit<Attempt, 'slot'> = { secret, nonce, codeVerifier, startedAt };
    const state: AttemptState = {
      attempt: hashSecret(secret).toString('base64url'),
      slot,
      restarts,
      target,
      startedAt,
    };
    return {
      state: sealText(this.#ring, STATE_CONTEXT, JSON.stringify(state)),
      nonce,
      codeChallenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      setCookie: this.#serialize(
        slot,
        sealText(
          this.#ring,
          { purpose: 'login-attempt', binding: String(slot) },
          JSON.stringify(attempt),
        ),
        ATTEMPT_LIFE_MS / 1_000,
      ),
    };
  }

  /**
   * Opens a `state` that came back.
   *
   * @param state - Untrusted.
   *
   * @returns `undefined` when it is not ours, was changed, or is older than an attempt may be.
   */
  openState(state: string): AttemptState | undefined {
    const plain = openText(this.#ring, STATE_CONTEXT, state);
    if (plain === undefined) return undefined;
    const opened = JSON.parse(plain) as AttemptState;
    return this.#isCurrent(opened.startedAt) ? opened : undefined;
  }

  /**
   * Finds the attempt a `state` belongs to among the browser's cookies.
   *
   * @returns `undefined` when this browser did not start it, or no longer has it.
   */
  find(cookieHeader: string | undefined, state: AttemptState): Attempt | undefined {
    const wanted = Buffer.from(state.attempt, 'base64url');
    return this.#inSlot(cookieHeader, state.slot).find((attempt) =>
      timingSafeEqual(hashSecret(attempt.secret), wanted),
    );
  }

  /** Whether the browser sent any attempt cookie at all: without one it may not keep cookies. */
  hasAny(cookieHeader: string | undefined): boolean {
    return this.#cookies.attemptNames.some((name) => readCookies(cookieHeader, name).length > 0);
  }

  /** Whether a lost attempt may be started once more. */
  mayRestart(state: AttemptState): boolean {
    return state.restarts < MAX_RESTARTS;
  }

  /**
   * Whether another tab may be finishing right now: this sign-in was restarted moments ago, and the
   * browser, which keeps our cookies, has another attempt under way.
   */
  mayAwaitOther(cookieHeader: string | undefined, state: AttemptState): boolean {
    return this.#now() - state.startedAt < AWAIT_OTHER_MS && this.hasAny(cookieHeader);
  }

  /** Set-Cookie that ends an attempt. */
  clear(slot: number): string {
    return this.#serialize(slot, '', 0);
  }

  #serialize(slot: number, value: string, maxAgeSeconds: number): string {
    // Always Lax: the browser comes back from another site, and must then bring this cookie.
    const attributes = { ...this.#cookies.attributes, sameSite: 'Lax', maxAgeSeconds } as const;
    return serializeSetCookie(this.#cookies.attemptNames[slot] ?? '', value, attributes);
  }

  #selectSlot(cookieHeader: string | undefined): number {
    let oldest = { slot: 0, startedAt: Number.POSITIVE_INFINITY };
    for (let slot = 0; slot < this.#cookies.attemptNames.length; slot += 1) {
      // The youngest, which one planted beside it does not hide.
      const all = this.#inSlot(cookieHeader, slot).map((attempt) => attempt.startedAt);
      if (all.length === 0) return slot;
      const startedAt = Math.max(...all);
      if (startedAt < oldest.startedAt) oldest = { slot, startedAt };
    }
    return oldest.slot;
  }

  #inSlot(cookieHeader: string | undefined, slot: number): Attempt[] {
    const attempts: Attempt[] = [];
    for (const value of readCookies(cookieHeader, this.#cookies.attemptNames[slot] ?? '')) {
      const binding = String(slot);
      const plain = openText(this.#ring, { purpose: 'login-attempt', binding }, value);
      if (plain === undefined) continue;
      const attempt = JSON.parse(plain) as Omit<Attempt, 'slot'>;
      if (this.#isCurrent(attempt.startedAt)) attempts.push({ ...attempt, slot });
    }
    return attempts;
  }

  #isCurrent(startedAt: number): boolean {
    const age = this.#now() - startedAt;
    // A replica's clock may be a little ahead of ours.
    return age < ATTEMPT_LIFE_MS && age > -ATTEMPT_LIFE_MS;
  }
}

function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest().subarray(0, 16);
}
