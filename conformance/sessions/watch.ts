/**
 * A process that is asked about a session again and again, with the moment of every answer.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { PATIENCE } from '../wire/workers.ts';
import { type KeptAnswer, type KeptConnection, keepConnection } from './kept-connection.ts';

/** The answers so far. */
export interface Watch {
  /** Oldest first. */
  readonly answers: readonly KeptAnswer[];
  /** Resolves after so many further answers. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

const PAUSE_MS = 2;

/**
 * Those answers of a watch that were asked for after a moment.
 *
 * @param moment - Milliseconds of `performance.now()`.
 */
export function askedAfter(answers: readonly KeptAnswer[], moment: number): readonly KeptAnswer[] {
  // Each is asked for once the one before it has come.
  return answers.filter((_, at) => (answers[at - 1]?.at ?? 0) > moment);
}

/** Asks `GET /me` over one connection that stays open, until it is stopped. */
export async function watchSession(
  url: string,
  cookie: string,
  host: string,
  pauseMs: number = PAUSE_MS,
): Promise<Watch> {
  const connection: KeptConnection = await keepConnection(url);
  const answers: KeptAnswer[] = [];
  let isStopped = false;
  const asking = (async () => {
    while (!isStopped) {
      answers.push(await connection.send('/me', { headers: { host, cookie } }));
      await pause(pauseMs);
    }
  })();
  // `stop` reports it.
  asking.catch(() => undefined);
  return {
    answers,
    more(count) {
      const wanted = answers.length + count;
      return expect.poll(() => answers.length, PATIENCE).toBeGreaterThanOrEqual(wanted);
    },
    async stop() {
      isStopped = true;
      await asking.finally(() => connection.close());
    },
  };
}
