/**
 * `sallyport token`: the bare access token for other programs.
 *
 * @module
 */

import type { TokenSet } from '@sallyport/client';
import type { Interruption } from '../process/interruption.ts';
import { type PlatformOptions, readSources } from '../profile/sources.ts';
import { formatToken } from '../sign-in/format-token.ts';
import { findCachedToken } from '../sign-in/warm-token.ts';
import { type ExitCode, type Failure, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface TokenOptions extends PlatformOptions {
  readonly header?: boolean;
  readonly execCredential?: boolean;
  /** A duration as text. */
  readonly minTtl?: string;
  /** `false` with `--no-login`. */
  readonly login?: boolean;
}

/**
 * Prints a token that still lives long enough: from the store without a request, by refresh,
 * with an application's credentials, or after a person signed in on this terminal.
 */
export async function token(
  options: TokenOptions,
  stdio: Stdio,
  interruption: Interruption,
): Promise<ExitCode> {
  const sources = readSources(options, process.env);
  const minTtlMs = await readMinTtl(options.minTtl);
  const kept = await findCachedToken(sources, minTtlMs, Date.now());
  if (kept !== undefined) {
    stdio.out(formatToken(kept.tokens, kept.header, options));
    return EXIT.ok;
  }
  const { obtainToken } = await import('../sign-in/obtain-token.ts');
  const mayAsk = options.login !== false;
  const obtained = await obtainToken(sources, { minTtlMs, mayAsk, stdio, interruption });
  if (!obtained.ok) return reportFailure(obtained.error, options.json === true, stdio);
  // Even the newest token lives too short: the caller would soon hold one that has expired.
  const lifetimeMs = lifetimeOf(obtained.value.tokens);
  if (minTtlMs !== undefined && lifetimeMs !== undefined && lifetimeMs < minTtlMs)
    return reportFailure(await tooShort(lifetimeMs), options.json === true, stdio);
  stdio.out(formatToken(obtained.value.tokens, obtained.value.header, options));
  return EXIT.ok;
}

function lifetimeOf({ expiresAt, obtainedAt }: TokenSet): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt - obtainedAt;
}

async function tooShort(lifetimeMs: number): Promise<Failure> {
  const { formatDuration } = await import('@sallyport/protocol');
  const seconds = Math.max(1, Math.round(lifetimeMs / 1_000));
  return {
    error: 'min_ttl_unreachable',
    description: `Tokens of this platform live for ${formatDuration(seconds * 1_000)}, which is less than --min-ttl asks for.`,
    hint: 'The lifetime of tokens is a setting of the identity provider.',
    exitCode: EXIT.failure,
  };
}

async function readMinTtl(text: string | undefined): Promise<number | undefined> {
  if (text === undefined) return undefined;
  const { parseDuration } = await import('@sallyport/protocol');
  const parsed = parseDuration(text);
  // Its form was checked with the option; a duration too long for a token gets a new one each time.
  return parsed.ok ? parsed.value : Number.MAX_SAFE_INTEGER;
}
