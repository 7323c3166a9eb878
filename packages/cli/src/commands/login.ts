/**
 * `sallyport login`: a person signs in, and the tokens are kept.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Interruption } from '../process/interruption.ts';
import { type SavedProfile, saveProfile } from '../profile/save-profile.ts';
import { nameSources, type PlatformOptions, readSources } from '../profile/sources.ts';
import { type Account, askAccount, describeAccount } from '../sign-in/account.ts';
import { type BrowserCommand, parseBrowserCommand } from '../sign-in/browser.ts';
import type { RequestedFlow } from '../sign-in/flow.ts';
import { openPlatform } from '../sign-in/open-platform.ts';
import type { DiscoveredPlatform, Platform } from '../sign-in/platform.ts';
import { signIn } from '../sign-in/sign-in-here.ts';
import { describeMoment } from '../terminal/moment.ts';
import { type ExitCode, type Failure, reportFailure, toFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface LoginOptions extends PlatformOptions {
  readonly flow: RequestedFlow;
  /** A command; `false` with `--no-browser`. */
  readonly browser?: string | boolean;
  /** A duration as text. */
  readonly timeout?: string;
  readonly qr?: boolean;
}

/**
 * Signs in. With `--endpoint` the profile is written too, once the sign-in has gone through.
 *
 * Where credentials of an application are configured no person signs in: the credentials are tried instead.
 */
export async function login(
  options: LoginOptions,
  stdio: Stdio,
  interruption: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const outcome = await signInWith(options, stdio, interruption);
  if (!outcome.ok) return reportFailure(outcome.error, isJson, stdio);
  const { platform, account, flow, expiresAt, isRenewable, notices, saved } = outcome.value;
  if (isJson) {
    for (const notice of notices) stdio.error(notice);
    stdio.out(
      JSON.stringify({
        ok: true,
        profile: saved?.name ?? platform.profile.name,
        endpoint: platform.endpoint,
        flow,
        account: account.ok ? account.value : null,
        expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
        refreshable: isRenewable,
        ...(account.ok ? {} : { account_error: account.error.error }),
      }),
    );
    return EXIT.ok;
  }
  const who = account.ok ? describeAccount(account.value) : 'unknown account';
  stdio.error(`Signed in to ${platform.endpoint} as ${who}.`);
  if (!account.ok) stdio.error(`  The platform did not say who: ${account.error.description}`);
  if (expiresAt !== undefined) {
    const after = isRenewable ? 'it is renewed by itself' : 'then sign in again';
    stdio.error(`The token is valid until ${describeMoment(expiresAt, Date.now())}; ${after}.`);
  }
  for (const notice of notices) stdio.error(notice);
  if (saved !== undefined) {
    stdio.error(`Profile "${saved.name}" written to ${saved.path}.`);
    if (!saved.isSelectedByItself)
      stdio.error(`  Use it with --profile ${saved.name} or SALLYPORT_PROFILE=${saved.name}.`);
  }
  return EXIT.ok;
}

interface Outcome {
  readonly platform: Platform;
  readonly account: Result<Account, Failure>;
  readonly flow: string;
  readonly expiresAt: number | undefined;
  readonly isRenewable: boolean;
  readonly notices: readonly string[];
  readonly saved: SavedProfile | undefined;
}

async function signInWith(
  options: LoginOptions,
  stdio: Stdio,
  interruption: Interruption,
): Promise<Result<Outcome, Failure>> {
  const { signal } = interruption;
  const browser = readBrowser(options.browser);
  if (!browser.ok) return browser;
  const sources = readSources(options, process.env);
  const opened = await openPlatform(sources, stdio, {
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    // A flow that is named is a person's, whatever credentials lie around.
    ...(options.flow === 'auto' ? {} : { isPersonal: true }),
  });
  if (!opened.ok) return opened;
  const platform = opened.value;
  for (const warning of platform.warnings) stdio.error(`warning: ${warning}`);
  const discovered = await platform.discover(signal);
  if (!platform.isPersonal) return tryCredentials(platform, discovered, stdio, signal);
  const signedIn = await signIn(
    platform,
    discovered,
    {
      flow: options.flow,
      ...(browser.value === undefined ? {} : { browser: browser.value }),
      ...(options.qr === true ? { qr: true } : {}),
    },
    stdio,
    interruption,
  );
  if (!signedIn.ok) return signedIn;
  const { tokens, flow, notices } = signedIn.value;
  const saved = options.endpoint === undefined ? undefined : saveProfile(sources, platform);
  await platform.writeCachedLogin(
    discovered,
    saved === undefined
      ? []
      : [
          nameSources(sources, {}, saved.text),
          nameSources(sources, { profile: saved.name }, saved.text),
        ].slice(saved.isSelectedByItself ? 0 : 1),
    flow,
  );
  return accept({
    platform,
    account: await askWho(platform, discovered, signal),
    flow,
    expiresAt: tokens.expiresAt,
    isRenewable: tokens.refreshToken !== undefined,
    notices,
    saved,
  });
}

async function tryCredentials(
  platform: Platform,
  discovered: DiscoveredPlatform,
  stdio: Stdio,
  signal: AbortSignal,
): Promise<Result<Outcome, Failure>> {
  stdio.error('Credentials of an application are configured; a sign-in is not needed.');
  const got = await discovered.client.tokenSource.get({ signal });
  if (!got.ok) return refuse(toFailure(got.error));
  return accept({
    platform,
    account: await askWho(platform, discovered, signal),
    flow: platform.grantKind,
    expiresAt: got.value.expiresAt,
    isRenewable: true,
    notices: [],
    saved: undefined,
  });
}

/** The account, if the platform answers; the sign-in does not depend on it. */
async function askWho(
  platform: Platform,
  discovered: DiscoveredPlatform,
  signal: AbortSignal,
): Promise<Result<Account, Failure>> {
  try {
    return await askAccount(platform, discovered, signal);
  } catch {
    return refuse({
      error: 'unreachable',
      description: `${platform.endpoint} could not be asked.`,
      hint: '',
      exitCode: EXIT.unreachable,
    });
  }
}

function readBrowser(
  given: string | boolean | undefined,
): Result<BrowserCommand | false | undefined, Failure> {
  if (given === false) return accept(false);
  if (given === undefined || given === true) return accept(undefined);
  const command = parseBrowserCommand(given);
  if (command !== undefined) return accept(command);
  return refuse({
    error: 'usage',
    description: '--browser: no command, or a quote that is not closed',
    hint: 'For example: --browser firefox',
    exitCode: EXIT.usage,
  });
}
