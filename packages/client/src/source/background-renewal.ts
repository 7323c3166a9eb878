/**
 * Keeps one token alive in the background: when the next attempt is made, and what came of it.
 *
 * @module
 */

import { accept, type Result } from '@sallyport/protocol';
import type { TokenSet } from '../token-set.ts';
import { isDue, planRenewal, type RenewalPlan } from './renewal-plan.ts';
import type { Schedule } from './schedule.ts';
import { TokenClock } from './token-clock.ts';
import { AttemptRefused } from './token-exchange.ts';
import { TokenOutage } from './token-outage.ts';

/** What {@link BackgroundRenewal} needs. */
export interface BackgroundRenewalOptions {
  /** Makes an attempt; takes the access token that is not to be used again, if there is one. */
  readonly obtain: (refused: string | undefined) => Promise<TokenSet>;
  readonly now: () => number;
  /** Milliseconds of a clock that is never set; `performance.now` when absent. */
  readonly monotonic?: (() => number) | undefined;
  readonly refreshWindowMs: number;
  readonly schedule: Schedule;
  readonly random: () => number;
  /** Hears of each failed attempt. Must not throw. */
  readonly onOutage: (failure: unknown) => void;
  /** Hears of each token that is obtained, the first included. Must not throw. */
  readonly onTokens: (tokens: TokenSet) => void;
}

interface Held {
  readonly tokens: TokenSet;
  readonly plan: RenewalPlan;
  /** One for all calls: making an answer costs more than looking at the clock. */
  readonly answer: Promise<Result<TokenSet, never>>;
}

/** Timers look at the clock at least this often, which may have been set, or have gone on while the machine slept. */
const LOOK_MS = 60_000;
/** However short tokens live, the background begins no more than one attempt a second. */
const PACE_MS = 1_000;

/** The token, the attempt under way, and the timer of the next one. */
export class BackgroundRenewal {
  readonly #options: BackgroundRenewalOptions;
  readonly outage: TokenOutage;
  readonly #clock: TokenClock;
  #held: Held | undefined;
  #attempt: Promise<void> | undefined;
  #attemptAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #isEnded = false;

  constructor(options: BackgroundRenewalOptions) {
    this.#options = options;
    this.#clock = new TokenClock(options);
    this.outage = new TokenOutage(options.random);
  }

  /** Epoch milliseconds; `undefined` without a token, and with one whose end is not known. */
  get expiresAt(): number | undefined {
    return this.#held?.tokens.expiresAt;
  }

  /** The token, if a call may carry it. */
  get usable(): TokenSet | undefined {
    const held = this.#held;
    return held !== undefined && this.#isUsable(held) ? held.tokens : undefined;
  }

  /** The answer to a call while there is nothing else to do, as there is not for nearly every call. */
  get answer(): Held['answer'] | undefined {
    const held = this.#held;
    if (held === undefined || this.#isEnded) return undefined;
    return this.#isUsable(held) && !this.#isDue(held, this.#options.now())
      ? held.answer
      : undefined;
  }

  get isUnderWay(): boolean {
    return this.#attempt !== undefined;
  }

  /** Whether an attempt is to be made now: the token is due, or the back-off is over. */
  get isWanted(): boolean {
    const now = this.#options.now();
    const sinceMs = now - this.#attemptAt;
    if (sinceMs >= 0 && sinceMs < PACE_MS) return false;
    if (this.outage.retryAt !== undefined) return now >= this.outage.retryAt;
    return this.#held !== undefined && this.#isDue(this.#held, now);
  }

  /** Makes an attempt, or joins the one that is under way. Never rejects. */
  attempt(refused?: string): Promise<void> {
    if (this.#attempt !== undefined) return this.#attempt;
    this.#attemptAt = this.#options.now();
    this.#attempt = this.#options
      .obtain(refused)
      .then(
        (tokens) => this.#take(tokens),
        (failure: unknown) => this.#fail(failure),
      )
      .finally(() => {
        this.#attempt = undefined;
        this.#arm();
      });
    return this.#attempt;
  }

  /** Ends the timer; an attempt under way starts no other. */
  end(): void {
    this.#isEnded = true;
    this.#cancelTimer?.();
  }

  #take(tokens: TokenSet): void {
    const { refreshWindowMs, random, onTokens } = this.#options;
    const plan = planRenewal(tokens, refreshWindowMs, random());
    this.#clock.hold(tokens);
    this.#held = { tokens, plan, answer: Promise.resolve(accept(tokens)) };
    this.outage.end();
    if (!this.#isEnded) onTokens(tokens);
  }

  #isUsable({ tokens, plan }: Held): boolean {
    return this.#clock.nowFor(tokens) < plan.usableUntil;
  }

  #isDue({ tokens, plan }: Held, now: number): boolean {
    return isDue(tokens, plan, now) || this.#clock.nowFor(tokens) >= plan.renewAt;
  }

  #fail(failure: unknown): void {
    if (this.#isEnded) return;
    const reason = failure instanceof AttemptRefused ? failure.refusal : failure;
    this.outage.note(reason, this.#options.now());
    this.#options.onOutage(reason);
  }

  #arm(): void {
    this.#cancelTimer?.();
    const at = this.outage.retryAt ?? this.#held?.plan.renewAt;
    if (this.#isEnded || at === undefined) return;
    const { now, schedule } = this.#options;
    const afterMs = Math.max(at, this.#attemptAt + PACE_MS) - now();
    this.#cancelTimer = schedule(Math.min(Math.max(afterMs, 0), LOOK_MS), () => {
      if (this.isWanted) void this.attempt();
      else this.#arm();
    });
  }
}
