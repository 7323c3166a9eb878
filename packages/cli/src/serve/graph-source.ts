/**
 * Makes graphs from configurations, all of them on one open session store.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import {
  type AdminServer,
  createDisabledServer,
  type Readiness,
  type SharedSessionStore,
  shareSessionStore,
} from '@sallyport/server';
import type { ServerSecrets } from '../admin/client-secret.ts';
import { createAdmin } from '../admin/create-admin.ts';
import { openServingSessionStore } from '../admin/open-session-store.ts';
import type { Ports } from '../process/ports.ts';
import type { Graph } from './replaceable-graph.ts';

/** What graphs are made from. */
export interface GraphSource {
  /**
   * Makes one. It begins to ask the IdPs at once.
   *
   * @param secrets - Closed with it, also when it cannot be made. Absent while `useAuth` is false, which does not change.
   */
  create(config: Config, secrets: ServerSecrets | undefined): Graph;
  /** Closes the store; to be called after the last graph's own close. */
  close(): void;
}

/**
 * Opens what all graphs of the process share.
 *
 * @throws {SallyportError} `SP_STORE_UNSUITABLE`, `SP_CONFIG_INVALID` and `SP_THREAD_FAILED` as `openServingSessionStore`.
 */
export async function openGraphSource(
  config: Config,
  readiness: Readiness,
  ports: Ports,
): Promise<GraphSource> {
  if (!config.server.security.useAuth) return createDisabledSource(readiness, ports);
  const store = shareSessionStore(await openServingSessionStore(config, ports));
  return {
    create(config, secrets) {
      if (secrets === undefined) throw new TypeError('useAuth does not change while it runs');
      return createGraph(config, secrets, { store, readiness, ports });
    },
    close: () => store.close(),
  };
}

function createGraph(
  config: Config,
  secrets: ServerSecrets,
  {
    store,
    readiness,
    ports,
  }: {
    readonly store: SharedSessionStore;
    readonly readiness: Readiness;
    readonly ports: Ports;
  },
): Graph {
  const view = store.open();
  let admin: AdminServer;
  try {
    admin = createAdmin(config, view, secrets.webClient, ports, secrets.introspection, readiness);
  } catch (cause) {
    view.close();
    secrets.close();
    throw cause;
  }
  return {
    ...admin,
    async close() {
      await admin.close();
      secrets.close();
    },
  };
}

function createDisabledSource(
  readiness: Readiness,
  { log, schedule, metrics }: Ports,
): GraphSource {
  log('warn', 'authentication_disabled', {
    detail: 'server.security.useAuth is false: /login, /callback, /me and /logout do not exist',
  });
  return {
    create() {
      const server = createDisabledServer({ schedule, log, readiness });
      metrics?.addDoors(server.doorNames);
      return {
        ...server,
        waitingFor: async () => [],
        knowledge: () => new Map(),
        settle: async () => {},
        close: async () => {},
      };
    },
    close() {},
  };
}
