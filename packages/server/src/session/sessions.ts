/**
 * The life of a session: begun at sign-in, looked up by cookie, used, ended.
 *
 * @module
 */

import type { JsonValue, Principal, UserRecord } from '@sallyport/protocol';
import type { KeyRing } from './key-ring.ts';
import {
  createSessionHandle,
  formatSessionHandle,
  parseSessionHandle,
  type SessionHandle,
} from './session-cookie.ts';
import {
  openSession,
  openTokens,
  type Session,
  type SessionTokens,
  sessionEnd,
  toStoredSession,
} from './session-record.ts';
import type { SessionStore } from './session-store.ts';

/** How long sessions live; all in milliseconds. */
export interface SessionLifetimes {
  /** Unused for so long: ended. */
  readonly idleMs: number;
  /** Signed in for so long: ended, however busy. */
  readonly absoluteMs: number;
  /** The idle time of a session whose IdP gave no refresh token: its validity cannot be asked after. */
  readonly withoutRefreshTokenIdleMs: number;
  /** How soon the IdP is asked again whether the session still stands. */
  readonly revalidateAfterMs: number;
}

/** What a finished sign-in brings. */
export interface NewSession {
  readonly principal: Principal;
  readonly user: UserRecord;
  readonly claims: Readonly<Record<string, JsonValue>>;
  readonly sid: string | undefined;
  readonly tokens: SessionTokens;
  /** Milliseconds the access token lives; `undefined` when the IdP did not say. */
  readonly accessTokenLifeMs: number | undefined;
  readonly address: string;
  readonly browser: string;
}

/** Why a cookie is no session. */
export type SessionRefusal = 'session_unknown' | 'session_expired';

/** A begun session as the browser gets it. */
export interface BegunSession {
  readonly session: Session;
  readonly cookieValue: string;
  /** Seconds the cookie may live without being slid. */
  readonly maxAgeSeconds: number;
}

/** A stored browser name is for a person to recognise; longer ones only cost space. */
const BROWSER_MAX_LENGTH = 200;
const ID_ATTEMPTS = 5;
/** More cookies of one name than any honest browser sends. */
const SHOWN_MAX = 4;

/**
 * Sessions over a store and a key ring. Holds no state of its own.
 *
 * Every method rejects with `SP_STORE_UNAVAILABLE` or `SP_KEY_RING_UNUSABLE` when it cannot tell.
 */
export class Sessions {
  readonly #store: SessionStore;
  readonly #ring: KeyRing;
  readonly #now: () => number;
  readonly #lifetimes: SessionLifetimes;

  constructor(options: {
    readonly store: SessionStore;
    readonly ring: KeyRing;
    readonly now: () => number;
    readonly lifetimes: SessionLifetimes;
  }) {
    this.#store = options.store;
    this.#ring = options.ring;
    this.#now = options.now;
    this.#lifetimes = options.lifetimes;
  }

  /**
   * Begins a session and ends the one it replaces; resolves once both are durable.
   *
   * The id and secret are new, so that nobody who knew the browser's earlier cookie knows this one
   * (session fixation).
   *
   * @param replaced - Cookie values the browser came with, planted ones perhaps among them; the first
   *   that is a session is replaced. Untrusted; only the holder of its
   *   secret can end that session.
   */
  async begin(begun: NewSession, replaced: readonly string[]): Promise<BegunSession> {
    const now = this.#now();
    const { accessTokenLifeMs, tokens, browser, ...kept } = begun;
    const { idleMs, absoluteMs, withoutRefreshTokenIdleMs, revalidateAfterMs } = this.#lifetimes;
    const renewable = tokens.refreshToken !== undefined;
    const replaces = await this.#findOwnId(replaced);
    for (let attempt = 1; ; attempt += 1) {
      const handle = createSessionHandle();
      const session: Session = {
        ...kept,
        id: handle.id,
        generation: 1,
        createdAt: now,
        lastUsedAt: now,
        absoluteEnd: now + absoluteMs,
        idleMs: renewable ? idleMs : Math.min(idleMs, withoutRefreshTokenIdleMs),
        revalidateAt: renewable
          ? now + Math.min(revalidateAfterMs, accessTokenLifeMs ?? revalidateAfterMs)
          : undefined,
        browser: browser.slice(0, BROWSER_MAX_LENGTH),
      };
      const stored = toStoredSession(this.#ring, session, tokens, handle);
      if (await this.#store.create(stored, replaces)) {
        return {
          session,
          cookieValue: formatSessionHandle(handle),
          maxAgeSeconds: this.maxAgeSeconds(session),
        };
      }
      // 48 random bits met an existing session: draw again. More than once in a row is no accident.
      if (attempt === ID_ATTEMPTS)
        throw new Error('session ids keep colliding: the random source is broken');
    }
  }

  /**
   * Looks up the session of a cookie value.
   *
   * @param cookieValue - Untrusted.
   */
  async find(cookieValue: string): Promise<Session | SessionRefusal> {
    const handle = parseSessionHandle(cookieValue);
    const session = handle === undefined ? undefined : await this.#open(handle);
    if (session === undefined) return 'session_unknown';
    return this.#now() < sessionEnd(session) ? session : 'session_expired';
  }

  /** Notes a use. A note that cannot be written is no failure of the request: the caller may ignore the rejection. */
  async noteUse(id: number, at: number): Promise<void> {
    await this.#store.touch(id, at);
  }

  /**
   * Ends the session of a cookie value, for every process; resolves once that is durable.
   *
   * @returns The session and its tokens, for signing out at the IdP; `undefined` when the value is no session.
   */
  async end(
    cookieValue: string,
  ): Promise<
    { readonly session: Session; readonly tokens: SessionTokens | undefined } | undefined
  > {
    const handle = parseSessionHandle(cookieValue);
    if (handle === undefined) return undefined;
    const stored = await this.#store.read(handle.id);
    const session = stored === undefined ? undefined : openSession(this.#ring, stored, handle);
    if (stored === undefined || session === undefined) return undefined;
    const tokens = openTokens(this.#ring, stored, handle);
    await this.#store.revoke(session.id);
    return { session, tokens };
  }

  /** Seconds until a session ends if it is not used again, for the cookie's Max-Age. */
  maxAgeSeconds(session: Pick<Session, 'lastUsedAt' | 'idleMs' | 'absoluteEnd'>): number {
    return Math.max(0, Math.ceil((sessionEnd(session) - this.#now()) / 1_000));
  }

  async #findOwnId(cookieValues: readonly string[]): Promise<number | undefined> {
    for (const value of cookieValues.slice(0, SHOWN_MAX)) {
      const handle = parseSessionHandle(value);
      const session = handle === undefined ? undefined : await this.#open(handle);
      if (session !== undefined) return session.id;
    }
    return undefined;
  }

  async #open(handle: SessionHandle): Promise<Session | undefined> {
    const stored = await this.#store.read(handle.id);
    return stored === undefined ? undefined : openSession(this.#ring, stored, handle);
  }
}
