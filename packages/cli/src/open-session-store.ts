/**
 * The session store that the configuration names, for every command that works on sessions.
 *
 * @module
 */

import { join } from 'node:path';
import type { Config } from '@sallyport/config';
import {
  createLocalSessionStore,
  openRedisSessionStore,
  type SessionStore,
} from '@sallyport/server';
import { createAudit, NO_REQUEST, NOBODY } from '@sallyport/server/observe';
import { tellLocalStore } from './local-store-folder.ts';
import type { Ports } from './ports.ts';
import { selectRedisSettings } from './redis-settings.ts';

/**
 * Opens the store. A store that cannot be reached says so at each use, and is tried again by itself.
 *
 * @throws {SallyportError} `SP_STORE_UNSUITABLE` when it is there and could lose sessions or their end;
 *   `SP_CONFIG_INVALID` when a file it needs cannot be used.
 */
export async function openSessionStore(
  config: Config,
  { now, log }: Pick<Ports, 'now' | 'log'>,
): Promise<SessionStore> {
  const audit = createAudit(log);
  // The record that says whose it was cannot be opened without its keys, and is gone by now.
  const onExpired = (session: number): void =>
    audit({ event: 'session_ended', ...NOBODY, session, ...NO_REQUEST, reason: 'session_expired' });
  switch (config.session.store) {
    case 'local':
      return createLocalSessionStore({
        path: localStorePath(config),
        now,
        onExpired,
        onOpening: tellLocalStore(config, log),
      });
    case 'redis': {
      const settings = selectRedisSettings(config.session.redis, log);
      return openRedisSessionStore({ ...settings, now, log, onExpired });
    }
  }
}

/** The file of the store `local`. */
export function localStorePath({ stateDirectory }: Pick<Config, 'stateDirectory'>): string {
  return join(stateDirectory, 'sessions.sqlite');
}
