/**
 * The session store that the configuration names, for every command that works on sessions.
 *
 * @module
 */

import { join } from 'node:path';
import type { Config } from '@sallyport/config';
import {
  createLocalSessionStore,
  type LocalSessionStore,
  openRedisSessionStore,
  type SessionStore,
} from '@sallyport/server';
import { createAudit, type Log, NO_PRINCIPAL, NO_REQUEST } from '@sallyport/server/observe';
import { logChanges } from '../observe/log-changes.ts';
import type { Ports } from '../process/ports.ts';
import { logLocalStore } from './local-store-folder.ts';
import { selectRedisSettings } from './redis-settings.ts';

/**
 * Opens the store for a command that works beside the processes that serve: they take care of it. A store
 * that cannot be reached says so at each use, and is tried again by itself.
 *
 * @throws {SallyportError} `SP_STORE_UNSUITABLE` when it is there and could lose sessions or their end;
 *   `SP_CONFIG_INVALID` when a file it needs cannot be used.
 */
export async function openSessionStore(
  config: Config,
  ports: Pick<Ports, 'now' | 'log'>,
): Promise<SessionStore> {
  return config.session.store === 'local' ? openLocal(config, ports) : openRedis(config, ports);
}

/**
 * Opens the store for a process that serves, and begins to take care of it.
 *
 * @throws {SallyportError} As {@link openSessionStore}; `SP_THREAD_FAILED` when a thread that this needs
 *   cannot run.
 */
export async function openServingSessionStore(
  config: Config,
  ports: Pick<Ports, 'now' | 'log' | 'schedule'>,
): Promise<SessionStore> {
  if (config.session.store !== 'local') return openRedis(config, ports);
  const store = openLocal(config, ports);
  try {
    await store.startMaintenance();
  } catch (cause) {
    store.close();
    throw cause;
  }
  return store;
}

function openLocal(
  config: Config,
  { now, log, schedule }: Pick<Ports, 'now' | 'log'> & Partial<Pick<Ports, 'schedule'>>,
): LocalSessionStore {
  return createLocalSessionStore({
    path: localStorePath(config),
    now,
    onExpired: logExpired(log),
    onOpening: logLocalStore(config, log),
    onMaintenanceThread: logChanges(
      (failure) => log('error', 'store_upkeep_failed', { failure }),
      () => log('info', 'store_upkeep_restored'),
    ),
    ...(schedule === undefined ? {} : { schedule }),
  });
}

function openRedis(
  config: Config,
  { now, log }: Pick<Ports, 'now' | 'log'>,
): Promise<SessionStore> {
  const settings = selectRedisSettings(config.session.redis, log);
  return openRedisSessionStore({ ...settings, now, log, onExpired: logExpired(log) });
}

/** The record that says whose it was cannot be opened without its keys, and is gone by now. */
function logExpired(log: Log): (session: number) => void {
  const audit = createAudit(log);
  return (session) =>
    audit({
      event: 'session_ended',
      ...NO_PRINCIPAL,
      session,
      ...NO_REQUEST,
      reason: 'session_expired',
    });
}

/** The file of the store `local`. */
export function localStorePath({ stateDirectory }: Pick<Config, 'stateDirectory'>): string {
  return join(stateDirectory, 'sessions.sqlite');
}
