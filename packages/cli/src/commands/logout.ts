/**
 * `sallyport logout`: the refresh token is revoked, then the tokens are deleted.
 *
 * @module
 */

import type { Interruption } from '../process/interruption.ts';
import { readProfiles } from '../profile/profiles.ts';
import { type PlatformOptions, readSources, type Sources } from '../profile/sources.ts';
import { openPlatform } from '../sign-in/open-platform.ts';
import type { Platform } from '../sign-in/platform.ts';
import { type ExitCode, reportFailure, toThrownFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface LogoutOptions extends PlatformOptions {
  readonly local?: boolean;
  readonly all?: boolean;
}

/** What was done for one profile. */
interface Outcome {
  readonly profile: string;
  readonly endpoint: string;
  readonly deleted: boolean;
  readonly revocation: 'revoked' | 'not_offered' | 'nothing_to_revoke' | 'skipped' | 'failed';
  /** Why the revocation failed; empty when it did not. */
  readonly problem: string;
}

/**
 * Signs out. The tokens here are deleted whatever becomes of the revocation.
 *
 * @returns 1 when a revocation failed: the refresh token may still be good at the identity provider.
 */
export async function logout(
  options: LogoutOptions,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const sources = readSources(options, process.env);
  const profiles = options.all === true ? readProfiles(sources) : undefined;
  if (profiles?.ok === false) return reportFailure(profiles.error, isJson, stdio);
  const names = profiles?.value.names ?? [options.profile];
  const outcomes: Outcome[] = [];
  for (const name of names) {
    const opened = await openPlatform(withProfile(sources, name), stdio);
    if (!opened.ok) {
      if (options.all !== true) return reportFailure(opened.error, isJson, stdio);
      outcomes.push(untouched(name, '', opened.error.description));
      continue;
    }
    if (options.all === true && !opened.value.isPersonal) continue;
    try {
      outcomes.push(await leave(opened.value, options.local === true, signal));
    } catch (error) {
      // One profile in trouble keeps no other signed in.
      if (options.all !== true || signal.aborted) throw error;
      const { description } = toThrownFailure(error, false);
      outcomes.push(untouched(opened.value.profile.name, opened.value.endpoint, description));
    }
  }
  const hasFailed = outcomes.some(({ revocation }) => revocation === 'failed');
  if (isJson) stdio.out(stdio.cleanse(JSON.stringify({ ok: !hasFailed, profiles: outcomes })));
  else for (const outcome of outcomes) printText(outcome, stdio);
  if (!isJson && outcomes.length === 0) stdio.out('There is no profile to sign out of.');
  return hasFailed ? EXIT.failure : EXIT.ok;
}

/** A profile that could not be looked at. */
function untouched(profile: string | undefined, endpoint: string, problem: string): Outcome {
  return { profile: profile ?? '', endpoint, deleted: false, revocation: 'failed', problem };
}

function withProfile(sources: Sources, profile: string | undefined): Sources {
  if (profile === undefined) return sources;
  return { ...sources, options: { ...sources.options, profile } };
}

async function leave(platform: Platform, isLocal: boolean, signal: AbortSignal): Promise<Outcome> {
  const { profile, endpoint } = platform;
  const common = { profile: profile.name, endpoint };
  const discovered = (await platform.readCachedLogin()) ?? (await platform.discover(signal));
  // First: the tokens are gone from this machine even if the revocation fails.
  const tokens = await platform.forget(discovered, signal);
  const done = { ...common, deleted: tokens !== undefined, problem: '' };
  if (isLocal) return { ...done, revocation: 'skipped' };
  if (tokens === undefined) return { ...done, revocation: 'nothing_to_revoke' };
  try {
    const revoked = await discovered.client.revoke(tokens, { signal });
    if (revoked.ok) return { ...done, revocation: revoked.value };
    // Without a refresh token there is the access token alone, which not every server can revoke.
    if (revoked.error.error === 'unsupported_token_type')
      return { ...done, revocation: 'not_offered' };
    return { ...done, revocation: 'failed', problem: revoked.error.description };
  } catch (error) {
    const { description } = toThrownFailure(error, signal.aborted);
    return { ...done, revocation: 'failed', problem: description };
  }
}

function printText(
  { profile, endpoint, deleted, revocation, problem }: Outcome,
  stdio: Stdio,
): void {
  const where = `${endpoint} (profile ${profile})`;
  if (!deleted && revocation === 'failed') {
    stdio.error(`sallyport: profile ${profile} was left as it is: ${problem}`);
    return;
  }
  if (!deleted) {
    stdio.out(`There were no tokens for ${where}.`);
    return;
  }
  switch (revocation) {
    case 'revoked':
      stdio.out(`Signed out of ${where}.`);
      stdio.out('  The tokens are revoked and deleted.');
      break;
    case 'failed':
      stdio.out(`The tokens of ${where} are deleted.`);
      stdio.error(`sallyport: the tokens could not be revoked: ${problem}`);
      stdio.error('  They may still be good: end the session at the identity provider.');
      break;
    case 'not_offered':
      stdio.out(`Signed out of ${where}.`);
      stdio.out('  The tokens are deleted; this kind cannot be revoked.');
      break;
    case 'nothing_to_revoke':
      break;
    case 'skipped':
      stdio.out(`Signed out of ${where}, here alone.`);
      stdio.out('  The tokens are deleted; nothing was revoked.');
      break;
  }
}
