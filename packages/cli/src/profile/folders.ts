/**
 * Where configuration, tokens and cached logins of a person are kept.
 *
 * @module
 */

import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Folders of one person. None of them needs to exist. */
export interface Folders {
  /** The person's own file; holds no secret. */
  readonly configFile: string;
  /** Tokens, in files of mode 0600 where there is no keyring. */
  readonly tokens: string;
  /** Cached logins; hold no secret and may be deleted at any time. */
  readonly cachedLogins: string;
}

/**
 * Finds the folders by the XDG base directory specification; a relative path in its variables is
 * ignored, as it asks.
 *
 * @param named - From `--config` or `SALLYPORT_CONFIG`; empty when there is none.
 */
export function findFolders(
  environment: Environment,
  named: string,
  home: string = homedir(),
): Folders {
  const base = (variable: string, fallback: string): string => {
    const given = environment[variable] ?? '';
    return join(isAbsolute(given) ? given : join(home, fallback), 'sallyport');
  };
  return {
    configFile: named === '' ? join(base('XDG_CONFIG_HOME', '.config'), 'config.yaml') : named,
    tokens: join(base('XDG_DATA_HOME', '.local/share'), 'tokens'),
    cachedLogins: join(base('XDG_STATE_HOME', '.local/state'), 'platforms'),
  };
}
