/**
 * The server of `sallyport serve`, in whichever process it runs.
 *
 * @module
 */

import type { Config, ConfigProblem } from '@sallyport/config';
import { accept, type Result } from '@sallyport/protocol';
import { createDisabledServer, type Log } from '@sallyport/server';
import { type HttpHandler, listenOnOnePort } from '@sallyport/server/listener';
import { openServerSecrets, type ServerSecrets } from '../client-secret.ts';
import { createAdmin } from '../create-admin.ts';
import { openSessionStore } from '../open-session-store.ts';
import { createSystemPorts } from '../ports.ts';

/** A server that listens. */
export interface RunningServer {
  readonly port: number;
  /** Stops listening and resolves when what was under way is answered, or its ten seconds are over. */
  readonly stop: () => Promise<void>;
}

/** Opens the secrets a configuration needs: none while `useAuth` is false. */
export function openSecrets(
  config: Config,
  log: Log,
): Result<ServerSecrets | undefined, readonly ConfigProblem[]> {
  return config.server.security.useAuth ? openServerSecrets(config, log) : accept(undefined);
}

/**
 * Starts the server.
 *
 * @param secrets - Absent while `useAuth` is false.
 *
 * @throws {SallyportError} `SP_PORT_IN_USE` when the port is taken; `SP_STORE_UNSUITABLE` and
 *   `SP_CONFIG_INVALID` as `openSessionStore`.
 */
export async function startServer(
  config: Config,
  secrets: ServerSecrets | undefined,
  log: Log,
): Promise<RunningServer> {
  const running =
    secrets === undefined ? startDisabled(log) : await startAdmin(config, secrets, log);
  const listener = await listenOnOnePort(running.handler, config.listen);
  return {
    port: listener.port,
    async stop() {
      running.stopping();
      await listener.close();
      await running.close();
    },
  };
}

interface Running {
  readonly handler: HttpHandler;
  readonly stopping: () => void;
  close(): Promise<void>;
}

async function startAdmin(config: Config, secrets: ServerSecrets, log: Log): Promise<Running> {
  const ports = createSystemPorts(log);
  const store = await openSessionStore(config, ports);
  const admin = createAdmin(config, store, secrets.webClient, ports, secrets.introspection);
  return {
    handler: admin.handler,
    stopping: admin.stopping,
    async close() {
      await admin.close();
      secrets.close();
    },
  };
}

function startDisabled(log: Log): Running {
  log('warn', 'authentication_disabled', {
    detail: 'server.security.useAuth is false: /login, /callback, /me and /logout do not exist',
  });
  const { schedule } = createSystemPorts(log);
  return { ...createDisabledServer({ schedule, log }), close: async () => {} };
}
