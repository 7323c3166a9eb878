/**
 * `sallyport whoami`: the platform's own word on who is signed in.
 *
 * @module
 */

import { askAccount, describeAccount } from '../login/account.ts';
import type { Interruption } from '../login/interruption.ts';
import { openPlatform } from '../login/open-platform.ts';
import { type ExitCode, reportFailure } from '../login/report.ts';
import { type PlatformOptions, readSources } from '../login/sources.ts';
import { EXIT, type Stdio } from '../stdio.ts';

/** Asks with the kept token, refreshed when it has to be; signs nobody in. */
export async function whoami(
  options: PlatformOptions,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const opened = await openPlatform(readSources(options, process.env), stdio);
  if (!opened.ok) return reportFailure(opened.error, isJson, stdio);
  const platform = opened.value;
  const learned = (await platform.recall()) ?? (await platform.learn(signal));
  const account = await askAccount(platform, learned, signal);
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
