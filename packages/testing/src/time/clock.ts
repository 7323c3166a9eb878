/**
 * A clock that only moves when a test moves it.
 *
 * @module
 */

/** 2026-01-05T12:00:00Z, where every test begins. */
export const NOON = 1_767_614_400_000;

/** Epoch milliseconds under the hand of a test. */
export class Clock {
  #time: number;

  constructor(time: number = NOON) {
    this.#time = time;
  }

  /** Bound, so that it can be passed on as `now`. */
  readonly now = (): number => this.#time;

  /** Moves on; back by a negative number. */
  advance(ms: number): void {
    this.#time += ms;
  }

  set(time: number): void {
    this.#time = time;
  }
}
