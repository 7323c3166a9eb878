/**
 * `sallyport status`: which profile, where its settings come from, and whether its token is usable.
 *
 * @module
 */

import type { TokenSet } from '@sallyport/client';
import type { Interruption } from '../process/interruption.ts';
import { readProfiles } from '../profile/profiles.ts';
import { type PlatformOptions, readSources, type Sources } from '../profile/sources.ts';
import { openPlatform } from '../sign-in/open-platform.ts';
import type { DiscoveredPlatform, Platform } from '../sign-in/platform.ts';
import { describeMoment } from '../terminal/moment.ts';
import { type ExitCode, type Failure, reportFailure, toThrownFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface StatusOptions extends PlatformOptions {
  readonly offline?: boolean;
}

/** What the times of a token say. `not_kept`: an application obtains it each time. */
type TokenState = 'valid' | 'expired' | 'none' | 'not_kept' | 'unknown';

interface ProfileStatus {
  readonly profile: string;
  readonly selected: boolean;
  readonly because: string;
  readonly endpoint: string;
  readonly flow: string;
  readonly settings: readonly {
    readonly key: string;
    readonly value: string;
    readonly origin: string;
  }[];
  readonly token: {
    readonly state: TokenState;
    readonly expires_at: string | null;
    readonly refreshable: boolean;
  };
  readonly store: string;
  readonly usable: boolean;
  readonly problem: string;
}

/** A profile's status, and what only people are shown. */
interface Look {
  readonly status: ProfileStatus;
  readonly isUnreachable: boolean;
  /** What to do about {@link ProfileStatus.problem}; empty for nothing. */
  readonly hint: string;
  readonly loginCommand: string;
}

/**
 * Shows every profile, or the one that is named. Shows no token and changes none.
 *
 * @returns 0 when the selected profile can be used without a sign-in, 4 when one is needed, 5 when
 *   that cannot be said because the platform is not reachable.
 */
export async function status(
  options: StatusOptions,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const sources = readSources(options, process.env);
  const profiles = readProfiles(sources);
  if (!profiles.ok) return reportFailure(profiles.error, isJson, stdio);
  const { selected, names } = profiles.value;
  const isOne = options.profile !== undefined || options.endpoint !== undefined;
  const others = isOne ? [] : names.filter((name) => name !== selected.name);
  const looked = await look(sources, options, stdio, signal);
  if ('exitCode' in looked) return reportFailure(looked, isJson, stdio);
  const all: Look[] = [looked];
  for (const profile of others) {
    const options = { ...sources.options, profile };
    const other = await look({ ...sources, options }, { ...options, offline: true }, stdio, signal);
    if ('exitCode' in other) stdio.error(`sallyport: profile ${profile}: ${other.description}`);
    else all.push({ ...other, status: { ...other.status, selected: false, because: '' } });
  }
  if (isJson)
    stdio.out(
      JSON.stringify({ ok: looked.status.usable, profiles: all.map(({ status }) => status) }),
    );
  else for (const [index, each] of all.entries()) printText(each, index === 0, stdio);
  if (looked.status.usable) return EXIT.ok;
  return looked.isUnreachable ? EXIT.unreachable : EXIT.loginNeeded;
}

async function look(
  sources: Sources,
  { offline }: StatusOptions,
  stdio: Stdio,
  signal: AbortSignal,
): Promise<Look | Failure> {
  const opened = await openPlatform(sources, stdio);
  if (!opened.ok) return opened.error;
  const platform = opened.value;
  let problem = '';
  let hint = '';
  let isUnreachable = false;
  const known = await platform.readCachedLogin();
  let discovered = known;
  if (offline !== true) {
    try {
      discovered = await platform.discover(signal);
    } catch (error) {
      const failure = toThrownFailure(error, signal.aborted);
      if (failure.exitCode === EXIT.interrupted) return failure;
      problem = failure.description;
      hint = failure.hint;
      isUnreachable = failure.exitCode === EXIT.unreachable;
    }
  }
  const { state, tokens, store } = await readTokens(platform, discovered);
  const refreshable = tokens?.refreshToken !== undefined;
  const usable = state === 'valid' || state === 'not_kept' || (state === 'expired' && refreshable);
  return {
    isUnreachable: isUnreachable && state === 'unknown',
    hint,
    loginCommand: platform.loginCommand,
    status: {
      profile: platform.profile.name,
      selected: true,
      because: platform.profile.origin,
      endpoint: platform.endpoint,
      flow: (tokens === undefined ? undefined : known?.flow) ?? platform.grantKind,
      settings: platform.settings,
      token: {
        state,
        expires_at:
          tokens?.expiresAt === undefined ? null : new Date(tokens.expiresAt).toISOString(),
        refreshable,
      },
      store,
      usable,
      problem,
    },
  };
}

async function readTokens(
  platform: Platform,
  discovered: DiscoveredPlatform | undefined,
): Promise<{
  readonly state: TokenState;
  readonly tokens: TokenSet | undefined;
  readonly store: string;
}> {
  if (!platform.isPersonal) return { state: 'not_kept', tokens: undefined, store: 'memory' };
  if (discovered === undefined) return { state: 'unknown', tokens: undefined, store: 'unknown' };
  const store = await platform.openStore();
  const tokens = await store.read(discovered.key);
  if (tokens === undefined) return { state: 'none', tokens, store: store.kind };
  const isExpired = tokens.expiresAt !== undefined && tokens.expiresAt <= Date.now();
  return { state: isExpired ? 'expired' : 'valid', tokens, store: store.kind };
}

function printText({ status, hint, loginCommand }: Look, isFirst: boolean, stdio: Stdio): void {
  const { profile, selected, because, endpoint, flow, token, store, settings, problem } = status;
  if (!isFirst) stdio.out('');
  stdio.out(selected ? `profile   ${profile}  (selected: ${because})` : `profile   ${profile}`);
  stdio.out(`  endpoint  ${endpoint}`);
  stdio.out(`  flow      ${flow}`);
  stdio.out(`  token     ${describeToken(token, loginCommand)}`);
  stdio.out(`  store     ${store}`);
  if (selected) printSettings(settings, stdio);
  if (problem !== '') stdio.error(`sallyport: ${problem}`);
  if (hint !== '') stdio.error(`  ${hint}`);
}

/** Prints the settings that were given, each with its origin; defaults are only counted. */
function printSettings(settings: ProfileStatus['settings'], stdio: Stdio): void {
  const given = settings.filter(({ origin }) => origin !== 'default');
  const defaults = settings.length - given.length;
  stdio.out('  settings');
  for (const { key, value, origin } of given) {
    stdio.out(`    ${key}  ${value}`);
    stdio.out(`      ${origin}`);
  }
  if (defaults > 0) stdio.out(`    ${defaults} defaults, shown with --json`);
}

function describeToken(
  { state, expires_at: until, refreshable }: ProfileStatus['token'],
  loginCommand: string,
): string {
  const renewal = refreshable ? ', refreshable' : '';
  const moment = until === null ? '' : describeMoment(Date.parse(until), Date.now());
  switch (state) {
    case 'valid':
      return until === null ? `valid${renewal}` : `valid until ${moment}${renewal}`;
    case 'expired':
      return `expired at ${moment}${refreshable ? renewal : `; sign in: ${loginCommand}`}`;
    case 'none':
      return `none; sign in: ${loginCommand}`;
    case 'not_kept':
      return 'obtained each time with the credentials of an application';
    case 'unknown':
      return 'unknown: nothing was learned about the platform yet';
  }
}
