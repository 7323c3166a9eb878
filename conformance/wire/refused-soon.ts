/**
 * What was ended is refused within a second, by processes that have to learn of it.
 *
 * @module
 */

import { expect } from 'vitest';
import { PATIENCE } from './workers.ts';

const WITHIN_MS = 1_000;

/**
 * Asks until every answer is 401. None that was asked for more than a second after this call may be 200. How long
 * answers take is not looked at, nor what is undecided meanwhile (503): a machine that is busy delays both.
 *
 * @param ask - Statuses of the processes, asked side by side.
 */
export async function expectRefusedSoon(ask: () => Promise<readonly number[]>): Promise<void> {
  const since = performance.now();
  let admittedAfterMs = 0;
  const look = async (): Promise<readonly number[]> => {
    const askedAfterMs = performance.now() - since;
    const statuses = new Set(await ask());
    if (statuses.has(200)) admittedAfterMs = askedAfterMs;
    return [...statuses];
  };
  await expect.poll(look, PATIENCE).toEqual([401]);
  expect(admittedAfterMs).toBeLessThan(WITHIN_MS);
}
