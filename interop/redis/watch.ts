/**
 * Asks the same thing all the time, and keeps every answer.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Received } from '../../conformance/wire/exchange.ts';

/** One answer. Times in milliseconds of `performance.now()`. */
export interface Sighting {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** A watch that is being kept. */
export interface Watch {
  /** Answers so far, oldest first. */
  readonly seen: readonly Sighting[];
  /** Resolves when the last request is answered; rejects when one was not. */
  stop(): Promise<void>;
}

/** Begins to ask: each time when the answer before has come, and a while has passed. */
export function watch(ask: () => Promise<Received>, everyMs = 40): Watch {
  const seen: Sighting[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const askedAt = performance.now();
      const { status, headers } = await ask();
      const retryAfterSeconds = Number(headers['retry-after']);
      seen.push({ status, retryAfterSeconds, askedAt, answeredAt: performance.now() });
      await pause(everyMs);
    }
  })();
  // Told by `stop`.
  asking.catch(() => undefined);
  return {
    seen,
    stop() {
      isOver = true;
      return asking;
    },
  };
}

/** Statuses that were seen and are none of those expected, each once. */
export function otherStatuses(
  sightings: readonly Sighting[],
  expected: readonly number[],
): readonly number[] {
  const seen = new Set(sightings.map(({ status }) => status));
  return [...seen].filter((status) => !expected.includes(status));
}
