/**
 * How long a soak lasts, from its command line.
 *
 * @module
 */

import { parseArgs } from 'node:util';

/** Without an option: memory that grows slowly shows within five minutes. */
export const DEFAULT_SECONDS = 300;
/** Below this no session is renewed, and nothing is known about memory. */
const LEAST_SECONDS = 45;
const MOST_SECONDS = 86_400;

/** How to call it. */
export const USAGE: string = `usage: npm run soak -- [--seconds N]

Loads \`sallyport serve\` with a thousand requests a second for N seconds (${LEAST_SECONDS} to ${MOST_SECONDS}, or ${DEFAULT_SECONDS}), and fails on a
wrong answer, on memory that grows and on answers that become slower.`;

/**
 * Reads the options.
 *
 * @returns `undefined` when the usage is asked for.
 * @throws TypeError for an unknown option, RangeError for a number outside the limits.
 */
export function parseSoakSeconds(args: readonly string[]): number | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: { seconds: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) return undefined;
  const text = values.seconds ?? String(DEFAULT_SECONDS);
  const seconds = Number(text);
  if (!/^\d{1,6}$/.test(text) || seconds < LEAST_SECONDS || seconds > MOST_SECONDS)
    throw new RangeError(`--seconds takes a number from ${LEAST_SECONDS} to ${MOST_SECONDS}`);
  return seconds;
}
