/**
 * The life of a session: begun at sign-in, looked up by cookie, used, ended.
 *
 * @module
 */

import type { JsonValue, Principal, UserRecord } from '@sallyport/protocol';
import type { IssuedTokens } from '../issuer/token-refresh.ts';
import type { KeyRing } from './key-ring.ts';
import {
  createSessionHandle,
  formatSessionHandle,
  isIdOfSecret,
  parseSessionHandle,
  type SessionHandle,
} from './session-cookie.ts';
import {
  openSession,
  openTokens,
  type Session,
  sessionEnd,
  toStoredSession,
} from './session-record.ts';
import type { EndReason, SessionStore } from './session-store.ts';
import { planValidation } from './validation.ts';

/** How long sessions live; all in milliseconds. */
export interface SessionLifetimes {
  /** Unused for so long: ended. */
  readonly idleTimeoutMs: number;
  /** Signed in for so long: ended, however busy. */
  readonly absoluteMs: number;
  /** The idle time of a session whose IdP gave no refresh token: its validity cannot be asked after. */
  readonly withoutRefreshTokenIdleMs: number;
  /** Within this time the IdP is asked again whether the session still stands. */
  readonly revalidateAfterMs: number;
  /** For so long a session counts beyond that time while the IdP does not answer. */
  readonly renewalGraceMs: number;
}

/** What a finished sign-in brings. */
export interface NewSession {
  readonly principal: Principal;
  readonly user: UserRecord;
  readonly claims: Readonly<Record<string, JsonValue>>;
  readonly sid: string | undefined;
  /** When the sign-in was started; what is revoked later does not begin. */
  readonly signInAt: number;
  readonly tokens: IssuedTokens;
  /** Milliseconds the access token lives; `undefined` when the IdP did not say. */
  readonly accessTokenLifeMs: number | undefined;
  readonly address: string;
  readonly browser: string;
}

/** Why a cookie is no session. */
export type SessionRefusal = 'session_unknown' | 'session_expired' | EndReason;

/** A begun session as the browser gets it. */
export interface BegunSession {
  readonly session: Session;
  readonly cookieValue: string;
  /** Seconds the cookie may live without being slid. */
  readonly maxAgeSeconds: number;
  /** The session that ended in its favour. */
  readonly replaced: Pick<Session, 'id' | 'principal'> | undefined;
  /** The least used of a person with too many, ended as well. */
  readonly surplus: readonly number[];
  /** Whether it ended as it was created: its owner was revoked while the person signed in. */
  readonly isRevoked: boolean;
}

/** A session with what only the holder of its cookie can open. */
export interface OpenedSession {
  readonly session: Session;
  /** `undefined` when they cannot be opened. */
  readonly tokens: IssuedTokens | undefined;
}

/** A stored browser name is for a person to recognise; longer ones only cost space. */
const BROWSER_MAX_LENGTH = 200;
const ID_ATTEMPTS = 5;
/** Sessions of one principal at a time. */
const PER_PRINCIPAL_MAX = 200;
/** What is listed beyond them, so that sign-ins at the same moment leave no more behind. */
const SURPLUS_MAX = 4;

/**
 * Sessions over a store and a key ring. Holds no state of its own.
 *
 * Every method rejects with `SP_STORE_UNAVAILABLE` or `SP_KEY_RING_UNUSABLE` when it cannot decide.
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
   * The id and secret are new, so that knowing the browser's earlier cookie does not help
   * (session fixation).
   *
   * @param replaced - Cookie values the browser came with, planted ones perhaps among them; the first
   *   that is a session is replaced. Untrusted; only the holder of its
   *   secret can end that session.
   */
  async begin(begun: NewSession, replaced: readonly string[]): Promise<BegunSession> {
    const now = this.#now();
    const { accessTokenLifeMs, tokens, browser, ...kept } = begun;
    const { idleTimeoutMs, absoluteMs, withoutRefreshTokenIdleMs } = this.#lifetimes;
    const renewable = tokens.refreshToken !== undefined;
    const replaces = await this.#findOwn(replaced);
    for (let attempt = 1; ; attempt += 1) {
      const handle = createSessionHandle();
      const session: Session = {
        ...kept,
        id: handle.id,
        generation: 1,
        createdAt: now,
        lastUsedAt: now,
        absoluteEnd: now + absoluteMs,
        idleTimeoutMs: renewable
          ? idleTimeoutMs
          : Math.min(idleTimeoutMs, withoutRefreshTokenIdleMs),
        ...planValidation(this.#lifetimes, now, handle.id, renewable, accessTokenLifeMs),
        browser: browser.slice(0, BROWSER_MAX_LENGTH),
      };
      const stored = toStoredSession(this.#ring, session, tokens, handle);
      if (await this.#store.create(stored, replaces?.id)) {
        return {
          session,
          cookieValue: formatSessionHandle(handle),
          maxAgeSeconds: this.maxAgeSeconds(session),
          replaced: replaces,
          surplus: await this.#endTooMany(stored.principalKey),
          isRevoked: (await this.#store.read(handle.id)) === undefined,
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
    const [found = 'session_unknown'] = await this.findAll([cookieValue]);
    return found;
  }

  /**
   * Looks up the sessions of several cookie values, in one read of the store as far as it can.
   *
   * Only a session's own cookie gets the reason of its end: a wrong secret gets the answer for an unknown id.
   *
   * @param cookieValues - Untrusted; as many as `readSessionValues` gives.
   *
   * @returns In the order of the values.
   */
  async findAll(cookieValues: readonly string[]): Promise<readonly (Session | SessionRefusal)[]> {
    const handles = cookieValues.map(parseSessionHandle);
    const found = await Promise.all(
      handles.map(async (handle) => (handle === undefined ? undefined : this.#look(handle))),
    );
    const isAny = found.some((each) => typeof each === 'object');
    return Promise.all(
      found.map(async (each, index) => {
        if (each !== undefined) return each;
        const handle = handles[index];
        // While one session stands, the end of another is not reported.
        if (isAny || handle === undefined || !isIdOfSecret(handle)) return 'session_unknown';
        return (await this.#store.endReason(handle.id)) ?? 'session_unknown';
      }),
    );
  }

  /**
   * Whether one of the cookie values is a session of this principal, begun after a moment and standing.
   *
   * @param cookieValues - Untrusted.
   * @param since - Epoch milliseconds.
   */
  async hasBegunSince(
    cookieValues: readonly string[],
    { issuer, subject }: Pick<Principal, 'issuer' | 'subject'>,
    since: number,
  ): Promise<boolean> {
    const shown = await this.findAll(cookieValues);
    return shown.some(
      (session) =>
        typeof session === 'object' &&
        session.createdAt >= since &&
        session.principal.issuer === issuer &&
        session.principal.subject === subject,
    );
  }

  /** Notes a use. A note that cannot be written is no failure of the request: the caller may ignore the rejection. */
  async noteUse(id: number, at: number): Promise<void> {
    await this.#store.touch(id, at);
  }

  /**
   * Opens the session of a cookie value with its tokens, also one that has ended by time.
   *
   * @returns `undefined` when the value is no session.
   */
  async openWithTokens(cookieValue: string): Promise<OpenedSession | undefined> {
    const handle = parseSessionHandle(cookieValue);
    if (handle === undefined) return undefined;
    const stored = await this.#store.read(handle.id);
    const session = stored === undefined ? undefined : openSession(this.#ring, stored, handle);
    if (stored === undefined || session === undefined) return undefined;
    return { session, tokens: openTokens(this.#ring, stored, handle) };
  }

  /**
   * Ends the session of a cookie value, for every process; resolves once that is durable.
   *
   * @returns The session and its tokens, for signing out at the IdP; `undefined` when the value is no session.
   */
  async end(cookieValue: string): Promise<OpenedSession | undefined> {
    const opened = await this.openWithTokens(cookieValue);
    if (opened !== undefined) await this.#store.revoke(opened.session.id);
    return opened;
  }

  /** Seconds until a session ends if it is not used again, for the cookie's Max-Age. */
  maxAgeSeconds(session: Pick<Session, 'lastUsedAt' | 'idleTimeoutMs' | 'absoluteEnd'>): number {
    return Math.max(0, Math.ceil((sessionEnd(session) - this.#now()) / 1_000));
  }

  /** No person has so many browsers; listing and ending the sessions of a principal stays cheap by it. */
  async #endTooMany(principalKey: Uint8Array): Promise<readonly number[]> {
    const own = await this.#store.listByPrincipal(principalKey, PER_PRINCIPAL_MAX + SURPLUS_MAX);
    const leastUsed = own
      .toSorted((one, other) => other.lastUsedAt - one.lastUsedAt)
      .slice(PER_PRINCIPAL_MAX)
      .map(({ id }) => id);
    for (const id of leastUsed) await this.#store.revoke(id, 'session_revoked');
    return leastUsed;
  }

  /** `undefined` when there is none. */
  async #look(handle: SessionHandle): Promise<Session | SessionRefusal | undefined> {
    const stored = await this.#store.readMetadata(handle.id);
    if (stored === undefined) return undefined;
    const session = openSession(this.#ring, stored, handle);
    if (session === undefined) return 'session_unknown';
    return this.#now() < sessionEnd(session) ? session : 'session_expired';
  }

  async #findOwn(cookieValues: readonly string[]): Promise<Session | undefined> {
    const opened = await Promise.all(
      cookieValues.map(parseSessionHandle).map(async (handle) => {
        const stored = handle === undefined ? undefined : await this.#store.readMetadata(handle.id);
        return handle === undefined || stored === undefined
          ? undefined
          : openSession(this.#ring, stored, handle);
      }),
    );
    return opened.find((session) => session !== undefined);
  }
}
