/**
 * `sallyport whoami`: the platform's own word on who is signed in.
 *
 * @module
 */

import type { Interruption } from '../process/interruption.ts';
import { type PlatformOptions, readSources } from '../profile/sources.ts';
import { askAccount, describeAccount } from '../sign-in/account.ts';
import { openPlatform } from '../sign-in/open-platform.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Asks with the stored token, refreshed when it has to be; never starts a sign-in. */
export async function whoami(
  options: PlatformOptions,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const opened = await openPlatform(readSources(options, process.env), stdio);
  if (!opened.ok) return reportFailure(opened.error, isJson, stdio);
  const platform = opened.value;
  const discovered = (await platform.readCachedLogin()) ?? (await platform.discover(signal));
  const account = await askAccount(platform, discovered, signal);
  if (!account.ok) return reportFailure(account.error, isJson, stdio);
  const { subject, name, email, kind, issuer } = account.value;
  const { endpoint, profile } = platform;
  if (isJson) {
    stdio.out(
      JSON.stringify({
        ok: true,
        account: { subject, name, email, kind, issuer },
        endpoint,
        profile: profile.name,
      }),
    );
    return EXIT.ok;
  }
  stdio.out(`account   ${describeAccount(account.value)}`);
  stdio.out(`subject   ${subject}`);
  stdio.out(`kind      ${kind === 'app' ? 'application' : 'person'}`);
  stdio.out(`issuer    ${issuer}`);
  stdio.out(`endpoint  ${endpoint}`);
  stdio.out(`profile   ${profile.name}`);
  return EXIT.ok;
}
