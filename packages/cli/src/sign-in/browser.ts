/**
 * Opening a page in the person's browser.
 *
 * @module
 */

import { spawn } from 'node:child_process';

type Environment = Readonly<Record<string, string | undefined>>;

/** What opens a page: a program with its arguments. */
export type BrowserCommand = readonly [string, ...string[]];

/** Stands for the address in a command; without it the address comes last. */
const PLACE = '%s';
/** Variables a browser has no use for, and that every process it starts would inherit. */
const CREDENTIAL_VARIABLE = /(?:CLIENT_SECRET|API_KEY|_TOKEN|PASSWORD)$/i;

/**
 * Splits a command such as `firefox -P "work profile"` into its words. Quotes hold a word together;
 * nothing else is interpreted, and no shell ever sees it.
 *
 * @returns `undefined` for an empty command or an open quote.
 */
export function parseBrowserCommand(text: string): BrowserCommand | undefined {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const match = /^(?:[^\s"']+|"[^"]*"|'[^']*')+/.exec(rest);
    if (match === null) return undefined;
    words.push(match[0].replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
    rest = rest.slice(match[0].length).trimStart();
  }
  const [program = '', ...args] = words;
  return program === '' ? undefined : [program, ...args];
}

/**
 * Picks what opens a page: the named command, else `BROWSER`, else the system's own opener.
 *
 * @param named - From `--browser`.
 */
export function selectBrowserCommand(
  named: BrowserCommand | undefined,
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): BrowserCommand {
  if (named !== undefined) return named;
  if (platform === 'darwin') return ['open'];
  // Not `start`: that is a word of the shell, and a shell would interpret the address.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const configured = parseBrowserCommand((environment['BROWSER'] ?? '').split(':')[0] ?? '');
  if (configured !== undefined) return configured;
  return (environment['WSL_DISTRO_NAME'] ?? '') === '' ? ['xdg-open'] : ['wslview'];
}

/**
 * Opens a page. That the program started proves nothing: some openers "succeed" with a text browser.
 *
 * The page's address is its only added argument, and credentials are taken out of its environment.
 *
 * @param url - Opened only when it is http or https.
 *
 * @returns Whether the program could be started.
 */
export function openBrowser(
  url: string,
  [program, ...args]: BrowserCommand,
  environment: Environment,
): Promise<boolean> {
  const protocol = URL.parse(url)?.protocol;
  if (protocol !== 'https:' && protocol !== 'http:') return Promise.resolve(false);
  const hasPlace = args.some((arg) => arg.includes(PLACE));
  const child = spawn(
    program,
    hasPlace ? args.map((arg) => arg.replaceAll(PLACE, () => url)) : [...args, url],
    {
      stdio: 'ignore',
      detached: true,
      env: Object.fromEntries(
        Object.entries(environment).filter(([name]) => !CREDENTIAL_VARIABLE.test(name)),
      ),
    },
  );
  child.unref();
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
  });
}
