/**
 * `sallyport status`: which profile, where its settings come from, and whether its token is usable.
 *
 * @module
 */

import type { TokenSet } from '@sallyport/client';
import type { Interruption } from '../login/interruption.ts';
import { openPlatform } from '../login/open-platform.ts';
import type { Learned, Platform } from '../login/platform.ts';
import { readProfiles } from '../login/profiles.ts';
import { type ExitCode, type Failure, reportFailure, toThrownFailure } from '../login/report.ts';
import { type PlatformOptions, readSources, type Sources } from '../login/sources.ts';
import { EXIT, type Stdio } from '../stdio.ts';

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
  const all: ProfileStatus[] = [looked.status];
  for (const profile of others) {
    const options = { ...sources.options, profile };
    const other = await look({ ...sources, options }, { ...options, offline: true }, stdio, signal);
    if ('exitCode' in other) stdio.error(`sallyport: profile ${profile}: ${other.description}`);
    else all.push({ ...other.status, selected: false, because: '' });
  }
  if (isJson) stdio.out(JSON.stringify({ ok: looked.status.usable, profiles: all }));
  else for (const each of all) tell(each, stdio);
  if (looked.status.usable) return EXIT.ok;
  return looked.isUnreachable ? EXIT.unreachable : EXIT.loginNeeded;
}

async function look(
  sources: Sources,
  { offline }: StatusOptions,
  stdio: Stdio,
  signal: AbortSignal,
): Promise<{ readonly status: ProfileStatus; readonly isUnreachable: boolean } | Failure> {
  const opened = await openPlatform(sources, stdio);
  if (!opened.ok) return opened.error;
  const platform = opened.value;
  let problem = '';
  let isUnreachable = false;
  let learned = await platform.recall();
  if (offline !== true) {
    try {
      learned = await platform.learn(signal);
    } catch (error) {
      const failure = toThrownFailure(error, signal.aborted);
      if (failure.exitCode === EXIT.interrupted) return failure;
      problem = failure.description;
      isUnreachable = failure.exitCode === EXIT.unreachable;
    }
  }
  const { state, tokens, store } = await readTokens(platform, learned);
  const refreshable = tokens?.refreshToken !== undefined;
  const usable = state === 'valid' || state === 'not_kept' || (state === 'expired' && refreshable);
  return {
    isUnreachable: isUnreachable && state === 'unknown',
    status: {
      profile: platform.profile.name,
      selected: true,
      because: platform.profile.origin,
      endpoint: platform.endpoint,
      flow: platform.grantKind,
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
  learned: Learned | undefined,
): Promise<{
  readonly state: TokenState;
  readonly tokens: TokenSet | undefined;
  readonly store: string;
}> {
  if (!platform.isPersonal) return { state: 'not_kept', tokens: undefined, store: 'memory' };
  if (learned === undefined) return { state: 'unknown', tokens: undefined, store: 'unknown' };
  const store = await platform.openStore();
  const tokens = await store.read(learned.key);
  if (tokens === undefined) return { state: 'none', tokens, store: store.kind };
  const isExpired = tokens.expiresAt !== undefined && tokens.expiresAt <= Date.now();
  return { state: isExpired ? 'expired' : 'valid', tokens, store: store.kind };
}

function tell(status: ProfileStatus, stdio: Stdio): void {
  const { profile, selected, because, endpoint, flow, token, store, settings, problem } = status;
  stdio.out(selected ? `profile   ${profile}  (selected: ${because})` : `profile   ${profile}`);
  stdio.out(`  endpoint  ${endpoint}`);
  stdio.out(`  flow      ${flow}`);
  stdio.out(`  token     ${describeToken(token)}`);
  stdio.out(`  store     ${store}`);
  if (selected) {
    const width = Math.max(...settings.map(({ key }) => key.length));
    for (const { key, value, origin } of settings)
      stdio.out(`  ${key.padEnd(width)}  ${value}  (${origin})`);
  }
  if (problem !== '') stdio.error(`sallyport: ${problem}`);
}

function describeToken({ state, expires_at: until, refreshable }: ProfileStatus['token']): string {
  const renewal = refreshable ? ', refreshable' : '';
  switch (state) {
    case 'valid':
      return until === null ? `valid${renewal}` : `valid until ${until}${renewal}`;
    case 'expired':
      return `expired at ${until}${refreshable ? ', refreshable' : '; sign in again: sallyport login'}`;
    case 'none':
      return 'none; sign in: sallyport login';
    case 'not_kept':
      return 'obtained each time with the credentials of an application';
    case 'unknown':
      return 'unknown: nothing was learned about the platform yet';
  }
}
