/**
 * What `sallyport up` says once it is ready.
 *
 * @module
 */

import { PLATFORM_PATH } from '../console/platform-page.ts';
import type { Stdio } from '../terminal/stdio.ts';

/** What a person needs to go on. */
export interface Announcement {
  readonly url: string;
  /** The same port over TLS. */
  readonly httpsUrl: string;
  /** Certificate of the authority that clients of `httpsUrl` have to trust. */
  readonly caFile: string;
  readonly issuer: string;
  readonly users: readonly { readonly login: string; readonly password: string }[];
  readonly passwordsFile: string;
  readonly deploymentFile: string;
  readonly logFile: string;
  readonly signInAs: string | undefined;
  /** Folder of the platform's pods; absent where its services do not run. */
  readonly platformFolder: string | undefined;
}

/**
 * Says where to go and how to get in.
 *
 * The passwords of the two development users are shown on a terminal, where a person is about to
 * type them; a pipe, a log or `--json` gets the name of their file.
 */
export function announce(announcement: Announcement, isJson: boolean, stdio: Stdio): void {
  const { url, httpsUrl, caFile, issuer, users, passwordsFile, deploymentFile, logFile } =
    announcement;
  const { signInAs, platformFolder } = announcement;
  if (isJson) {
    stdio.out(
      JSON.stringify({
        ready: url,
        https_url: httpsUrl,
        caFile,
        issuer,
        users: users.map(({ login }) => login),
        passwordsFile,
        deploymentFile,
        logFile,
        ...(platformFolder === undefined ? {} : { platformFolder }),
      }),
    );
    return;
  }
  if (signInAs !== undefined) {
    stdio.error(
      `warning: --sign-in-as ${signInAs}: everybody who opens the page is ${signInAs}, without a password. For development only.`,
    );
  }
  stdio.out(`ready ${url}`);
  stdio.out('');
  if (signInAs !== undefined) {
    stdio.out(`  everybody is  ${signInAs}`);
  } else if (stdio.isTerminal) {
    const width = Math.max(...users.map(({ login }) => login.length));
    stdio.out('  sign in as');
    for (const { login, password } of users) stdio.out(`    ${login.padEnd(width)}  ${password}`);
  } else {
    stdio.out(
      `  sign in as  ${users.map(({ login }) => login).join(' or ')}; passwords in ${passwordsFile}`,
    );
  }
  stdio.out(`  identity provider  ${issuer}`);
  stdio.out(`  over TLS  ${httpsUrl}, authority in ${caFile}`);
  stdio.out(`  settings for serve  ${deploymentFile}`);
  stdio.out(`  log  ${logFile}`);
  if (platformFolder !== undefined)
    stdio.out(`  platform  ${url}${PLATFORM_PATH}, its pods in ${platformFolder}`);
  stdio.out('');
  stdio.out('  Ctrl-C stops it.');
}
