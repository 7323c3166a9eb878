/**
 * Renewals of real sessions by several processes, with an IdP and everything else under the hand of a test.
 *
 * @module
 */

import { join } from 'node:path';
import { accept, type JsonValue, type Principal, type Result, refuse } from '@sallyport/protocol';
import { onTestFinished } from 'vitest';
import { claimsOfRecord } from '../../../server/src/issuer/joined-claims.ts';
import type {
  IssuedTokens,
  RefreshableTokens,
  RefreshedTokens,
  RefreshRefusal,
  RefreshTokens,
} from '../../../server/src/issuer/token-refresh.ts';
import { createLocalSessionStore } from '../../../server/src/session/local/local-session-store.ts';
import {
  type RenewalDependencies,
  type RenewalOutcome,
  renewSession,
} from '../../../server/src/session/renewal/renewal.ts';
import { RenewalBudget } from '../../../server/src/session/renewal/renewal-budget.ts';
import {
  parseSessionHandle,
  type SessionHandle,
} from '../../../server/src/session/session-cookie.ts';
import {
  openSession,
  openTokens,
  type Session,
} from '../../../server/src/session/session-record.ts';
import type { SessionStore, StoredSession } from '../../../server/src/session/session-store.ts';
import { type NewSession, Sessions } from '../../../server/src/session/sessions.ts';
import { selectAccessClaims } from '../../../server/src/verdict/access.ts';
import { toUserRecord } from '../../../server/src/verdict/user-record.ts';
import { createTemporaryFolder } from '../files/temporary-folder.ts';
import { Clock } from '../time/clock.ts';
import { ClockTimers, settled } from '../time/clock-timers.ts';
import { ADA_SIGNS_IN, LIFETIMES, OPEN_RULES, TOKENS } from './people.ts';
import { openRing, RingInMemory } from './ring.ts';

/** What a refresh brings. */
export type RefreshAnswer = Result<RefreshedTokens, RefreshRefusal>;

/** What the IdP says of Ada. */
const ADA_TELLS = { ...claimsOfRecord(ADA_SIGNS_IN.user), ...ADA_SIGNS_IN.claims };

/** Refresh tokens of an IdP that takes each one once. */
export class RefreshTokensInMemory implements RefreshTokens {
  /** The tokens it was asked with, oldest first, and for whom. */
  readonly asked: string[] = [];
  readonly principals: Principal[] = [];
  /** The tokens that were given back. */
  readonly givenBack: string[] = [];
  /** Whether a token that was used is spent. */
  isRotating = true;
  /** No answer comes, and nothing is spent; `unreachable` when nothing can have arrived. */
  isAway: boolean | 'unreachable' = false;
  /** The claims in its answer. */
  claims: Readonly<Record<string, JsonValue>> = ADA_TELLS;
  /** Whether some claims could not be had. */
  isPartial = false;
  /** Called between the IdP's answer and its receiver: the token is spent already. */
  deliver: (answer: RefreshAnswer) => RefreshAnswer | Promise<RefreshAnswer> = (answer) => answer;
  readonly #good = new Set<string>();
  #issued = 0;

  /** A token that is good. */
  issue(): string {
    this.#issued += 1;
    const token = `refresh-token-${this.#issued}`;
    this.#good.add(token);
    return token;
  }

  /** No token is good any more. */
  revokeAll(): void {
    this.#good.clear();
  }

  async refresh({ refreshToken }: RefreshableTokens, principal: Principal): Promise<RefreshAnswer> {
    this.asked.push(refreshToken);
    this.principals.push(principal);
    return this.deliver(this.#answer(refreshToken));
  }

  async revoke(refreshToken: string): Promise<void> {
    this.givenBack.push(refreshToken);
    this.#good.delete(refreshToken);
  }

  #answer(token: string): RefreshAnswer {
    if (this.isAway !== false) {
      const reason = this.isAway === 'unreachable' ? 'unreachable' : 'unavailable';
      return refuse({ reason, cause: new Error('away') });
    }
    if (!this.#good.has(token)) return refuse({ reason: 'refused', code: 'invalid_grant' });
    if (this.isRotating) this.#good.delete(token);
    const refreshToken = this.isRotating ? this.issue() : token;
    return accept({
      tokens: {
        idToken: `id of ${refreshToken}`,
        accessToken: `for ${refreshToken}`,
        refreshToken,
      },
      claims: this.claims,
      isPartial: this.isPartial,
      accessTokenLifeMs: 3_600_000,
    });
  }
}

/** A session that is signed in, and what opens it. */
export interface SignedIn {
  readonly id: number;
  readonly cookie: string;
  readonly handle: SessionHandle;
  readonly session: Session;
}

/** One process: a connection and timers of its own. */
export interface RenewingProcess {
  readonly store: SessionStore;
  readonly dependencies: RenewalDependencies;
  /** Requests that were announced, by their session. */
  readonly sent: Session[];
  /** When each answer began to be late. */
  readonly unanswered: readonly number[];
  renew(signedIn: SignedIn, generation?: number): Promise<RenewalOutcome>;
  /** Nothing is sent from now on. */
  stop(): void;
  /** Has its timers stand still from now on, as those of a process that was killed or sleeps. */
  freeze(): void;
  /** Fires the timers that became due meanwhile, and goes on. */
  wake(): void;
}

/** Everything that is shared by the processes. */
export interface RenewalBench {
  /** Of the timers, and what leases go by. */
  readonly clock: Clock;
  /** By how many milliseconds the wall clock of every process has been set since. */
  readonly wall: { setBy: number };
  /** Of every process. */
  readonly timers: ClockTimers;
  readonly source: RingInMemory;
  readonly idp: RefreshTokensInMemory;
  readonly sessions: Sessions;
  /** A connection that no process uses. */
  readonly store: SessionStore;
  /** Signs Ada in with a good refresh token of the IdP. */
  signIn(signedIn?: Partial<NewSession>): Promise<SignedIn>;
  createProcess(wrap?: (store: SessionStore) => SessionStore): RenewingProcess;
  /** What the store has of a session, opened; `undefined` when it is gone. */
  look(signedIn: SignedIn): Promise<
    | {
        readonly stored: StoredSession;
        readonly session: Session | undefined;
        readonly tokens: IssuedTokens | undefined;
      }
    | undefined
  >;
}

/** Creates it for the running test. */
export function createRenewalBench(): RenewalBench {
  const clock = new Clock();
  const wall = { setBy: 0 };
  const now = () => clock.now() + wall.setBy;
  const timers = new ClockTimers(clock);
  const source = new RingInMemory();
  const { ring } = openRing(source, clock);
  const path = join(createTemporaryFolder(), 'sessions.sqlite');
  const open = () => {
    const store = createLocalSessionStore({ path, now, monotonicNow: clock.now });
    onTestFinished(() => store.close());
    return store;
  };
  const store = open();
  const idp = new RefreshTokensInMemory();
  const sessions = new Sessions({ store, ring, now, lifetimes: LIFETIMES });
  return {
    ...{ clock, wall, timers, source, idp, sessions, store },

    async signIn(signedIn = {}) {
      const tokens = { ...TOKENS, refreshToken: idp.issue() };
      const begun = await sessions.begin({ ...ADA_SIGNS_IN, tokens, ...signedIn }, []);
      const handle = parseSessionHandle(begun.cookieValue);
      if (handle === undefined) throw new Error('no cookie');
      return { id: handle.id, cookie: begun.cookieValue, handle, session: begun.session };
    },

    createProcess(wrap = (own) => own) {
      const frozen: { callbacks: Set<() => void> | undefined } = { callbacks: undefined };
      const own = wrap(open());
      const sent: Session[] = [];
      const unanswered: number[] = [];
      const stopping = { isAsked: false };
      const dependencies: RenewalDependencies = {
        store: own,
        ring: openRing(source, clock).ring,
        tokens: idp,
        budget: new RenewalBudget({
          now,
          random: () => 0,
          perSecond: 100,
          atOnce: 16,
          listening: 16,
        }),
        lifetimes: LIFETIMES,
        keepClaims: (claims) => ({
          user: toUserRecord(claims, ['team', 'office'], false),
          claims: selectAccessClaims(claims, OPEN_RULES),
        }),
        isStopping: () => stopping.isAsked,
        onSent: (session) => sent.push(session),
        onUnanswered: () => unanswered.push(clock.now()),
        now,
        schedule: (afterMs, callback) => {
          const cancel = timers.schedule(afterMs, () => {
            if (frozen.callbacks === undefined) callback();
            else frozen.callbacks.add(callback);
          });
          return () => {
            cancel();
            frozen.callbacks?.delete(callback);
          };
        },
      };
      return {
        ...{ store: own, dependencies, sent, unanswered },
        stop() {
          stopping.isAsked = true;
        },
        freeze() {
          frozen.callbacks ??= new Set();
        },
        wake() {
          const { callbacks = [] } = frozen;
          frozen.callbacks = undefined;
          for (const callback of callbacks) callback();
        },
        renew: ({ id, handle, session }, generation = session.generation) =>
          renewSession(dependencies, { id, generation }, [handle]),
      };
    },

    async look({ id, handle }) {
      const stored = await store.read(id);
      if (stored === undefined) return undefined;
      return {
        stored,
        session: openSession(ring, stored, handle),
        tokens: openTokens(ring, stored, handle),
      };
    },
  };
}

/** One session, and two processes that may renew it. */
export async function setupTwo(): Promise<
  RenewalBench & {
    readonly ada: SignedIn;
    readonly one: RenewingProcess;
    readonly other: RenewingProcess;
  }
> {
  const bench = createRenewalBench();
  const ada = await bench.signIn();
  return { ...bench, ada, one: bench.createProcess(), other: bench.createProcess() };
}

/** Has the IdP take its time with the next answer; gives what lets it go, perhaps as another one. */
export function holdAnswer({
  idp,
}: Pick<RenewalBench, 'idp'>): (change?: (answer: RefreshAnswer) => RefreshAnswer) => void {
  const { promise, resolve } = Promise.withResolvers<(answer: RefreshAnswer) => RefreshAnswer>();
  idp.deliver = async (answer) => {
    idp.deliver = (next) => next;
    return (await promise)(answer);
  };
  return (change = (answer) => answer) => resolve(change);
}

const STEP_MS = 100;
const STEPS_MAX = 6_000;

/** Lets time pass until a promise is settled, ten minutes of it at most. */
export async function passUntil<T>(timers: ClockTimers, promise: Promise<T>): Promise<T> {
  const over: { isSo: boolean } = { isSo: false };
  const note = () => {
    over.isSo = true;
  };
  promise.then(note, note);
  await settled();
  for (let step = 0; !over.isSo; step += 1) {
    if (step === STEPS_MAX) throw new Error('still waiting');
    await timers.advance(STEP_MS);
  }
  return promise;
}
