/**
 * `sallyport serve`: the admin service's authentication for production.
 *
 * @module
 */

import {
  type Config,
  formatConfigProblem,
  type LoadedConfig,
  redactConfig,
} from '@sallyport/config';
import { accept } from '@sallyport/protocol';
import { createDisabledServer, createPinoLog, type Log } from '@sallyport/server';
import { type HttpHandler, listenOnOnePort } from '@sallyport/server/listener';
import { openServerSecrets, type ServerSecrets } from '../client-secret.ts';
import { createAdmin } from '../create-admin.ts';
import { createSystemPorts } from '../ports.ts';
import { EXIT, type Stdio } from '../stdio.ts';
import { type ConfigurationOptions, readConfiguration, reportProblems } from './configuration.ts';
import { stopSignal } from './stop-signal.ts';

/** Options of the command line. */
export interface ServeOptions extends ConfigurationOptions {
  readonly check?: boolean;
  readonly json?: boolean;
}

/**
 * Runs until it is told to stop. Writes `ready <url>` once it listens; it is ready for people once
 * `/readyz` says so, which needs the IdP's metadata.
 *
 * @returns The exit code: 0 after a stop or a good check, 1 for a bad configuration.
 */
export async function serve(options: ServeOptions, stdio: Stdio): Promise<number> {
  const loaded = readConfiguration(options, process.env);
  if (!loaded.ok) {
    reportProblems(loaded.error, options.json === true, stdio);
    return EXIT.failure;
  }
  const { config, warnings } = loaded.value;
  const log = createPinoLog(config.observe.logLevel, process.stderr);
  const secrets = config.server.security.useAuth
    ? openServerSecrets(config, log)
    : accept(undefined);
  if (!secrets.ok) {
    reportProblems(secrets.error, options.json === true, stdio);
    return EXIT.failure;
  }
  if (options.check === true) {
    secrets.value?.close();
    return check(loaded.value, options.json === true, stdio);
  }

  for (const warning of warnings)
    log('warn', 'configuration', { problem: formatConfigProblem(warning) });
  const running =
    secrets.value === undefined ? startDisabled(log) : startAdmin(config, secrets.value, log);
  const listener = await listenOnOnePort(running.handler, config.listen);
  const host = config.listen.host.includes(':') ? `[${config.listen.host}]` : config.listen.host;
  stdio.out(`ready http://${host}:${listener.port}`);

  const signal = await stopSignal();
  log('info', 'stopping', { signal });
  running.stopping();
  await listener.close();
  running.close();
  return EXIT.ok;
}

interface Running {
  readonly handler: HttpHandler;
  readonly stopping: () => void;
  close(): void;
}

function startAdmin(config: Config, secrets: ServerSecrets, log: Log): Running {
  const ports = createSystemPorts(log);
  const admin = createAdmin(config, secrets.webClient, ports, secrets.introspection);
  return {
    handler: admin.handler,
    stopping: admin.stopping,
    close() {
      admin.close();
      secrets.close();
    },
  };
}

function startDisabled(log: Log): Running {
  log('warn', 'authentication_disabled', {
    detail: 'server.security.useAuth is false: /login, /callback, /me and /logout do not exist',
  });
  const { schedule } = createSystemPorts(log);
  return { ...createDisabledServer({ schedule, log }), close: () => {} };
}

function check(
  { config, warnings, notUsedHere, origins }: LoadedConfig,
  isJson: boolean,
  stdio: Stdio,
): number {
  if (isJson) {
    stdio.out(
      JSON.stringify(
        {
          ok: true,
          config: redactConfig(config),
          origins: Object.fromEntries(origins),
          notUsedHere,
          warnings,
        },
        null,
        2,
      ),
    );
    return EXIT.ok;
  }
  for (const warning of warnings) stdio.error(`warning: ${formatConfigProblem(warning)}`);
  stdio.out(`ok: ${origins.size} settings read`);
  for (const [key, origin] of origins)
    if (origin !== 'default') stdio.out(`  ${key}  from ${origin}`);
  for (const key of notUsedHere) stdio.out(`  ${key}  is checked, but not used by serve`);
  return EXIT.ok;
}
