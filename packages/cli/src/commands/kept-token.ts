/**
 * The short way of `sallyport token`: a token that is kept and good, without the command line.
 *
 * @module
 */

import { parseDuration } from '@sallyport/protocol';
import { readSources } from '../profile/sources.ts';
import { formatToken } from '../sign-in/format-token.ts';
import { findCachedToken } from '../sign-in/warm-token.ts';
import { createStdio } from '../terminal/stdio.ts';
import { isDurationOption, readTokenOptions } from './token-options.ts';

/**
 * Prints a kept token as `sallyport token` prints it, where these words ask for no more than that.
 *
 * A credential helper runs at each request of its caller, and most of what a command loads is the command line.
 *
 * @param words - Those behind `token`.
 *
 * @returns Whether it was printed. If not, nothing was: the command line MUST then run, which also reports
 *   what is wrong.
 */
export async function printKeptToken(words: readonly string[]): Promise<boolean> {
  const line = await findLine(words).catch(() => undefined);
  if (line === undefined) return false;
  createStdio().out(line);
  return true;
}

async function findLine(words: readonly string[]): Promise<string | undefined> {
  const options = readTokenOptions(words);
  if (options === undefined) return undefined;
  const { minTtl } = options;
  if (minTtl !== undefined && !isDurationOption(minTtl)) return undefined;
  const parsed = minTtl === undefined ? undefined : parseDuration(minTtl);
  if (parsed?.ok === false) return undefined;
  const kept = await findCachedToken(readSources(options, process.env), parsed?.value, Date.now());
  return kept === undefined ? undefined : formatToken(kept.tokens, kept.header, options);
}
