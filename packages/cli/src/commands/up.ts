/**
 * `sallyport up`: the whole plane on one machine, for looking at it and developing against it.
 *
 * @module
 */

import { createWriteStream, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ConfigProblem, formatConfigProblem, loadConfig } from '@sallyport/config';
import { createGateway } from '@sallyport/gateway';
import { createEmbeddedIdp, type EmbeddedIdp } from '@sallyport/idp';
import { SallyportError } from '@sallyport/protocol';
import { type AdminServer, createPinoLog, type Log } from '@sallyport/server';
import { openClientSecret } from '../client-secret.ts';
import { createConsole } from '../console/console-server.ts';
import { createAdmin } from '../create-admin.ts';
import { listenHttp } from '../http-listener.ts';
import { createSystemPorts } from '../ports.ts';
import { EXIT, type Stdio } from '../stdio.ts';
import { announce } from '../up/announcement.ts';
import {
  CLIENT_IDS,
  type Deployment,
  deploymentVariables,
  writeDeploymentFile,
} from '../up/deployment.ts';
import { findFreePort } from '../up/free-port.ts';
import { stopSignal } from './stop-signal.ts';

/** Options of the command line. */
export interface UpOptions {
  readonly port: number;
  readonly idpPort?: number;
  readonly state: string;
  readonly upstream?: string;
  readonly signInAs?: string;
  readonly json?: boolean;
}

/**
 * Two names of the loopback, so that the IdP is another site to the browser, as it is in production:
 * cookies do not mix, and SameSite has something to do.
 */
const PUBLIC_HOST = 'localhost';
const LOOPBACK = '127.0.0.1';

/** Something to stop again, in the reverse order of starting. */
type Stop = () => Promise<void> | void;

/**
 * Runs until it is told to stop. Listens on the loopback only. Writes `ready <url>` once the gateway
 * answers.
 *
 * @returns 0 after a stop.
 * @throws {SallyportError} `SP_PORT_IN_USE` naming the port; what was started is stopped first.
 */
export async function up(options: UpOptions, stdio: Stdio): Promise<number> {
  const stateDirectory = resolve(options.state);
  mkdirSync(stateDirectory, { recursive: true, mode: 0o700 });
  const logFile = join(stateDirectory, 'sallyport.log');
  const logStream = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  const log = createPinoLog('info', logStream);
  const stops: Stop[] = [];
  try {
    const port = options.port === 0 ? await findFreePort(LOOPBACK) : options.port;
    const idpPort =
      options.idpPort ?? (options.port === 0 ? await findFreePort(LOOPBACK) : port + 1);
    const url = `http://${PUBLIC_HOST}:${port}`;
    const issuer = `http://${LOOPBACK}:${idpPort}`;
    const idp = await createEmbeddedIdp({
      issuer,
      publicUrl: url,
      stateDirectory: join(stateDirectory, 'idp'),
      clientIds: CLIENT_IDS,
      ...(options.signInAs === undefined ? {} : { signInAs: options.signInAs }),
      log: (event, fields) => log('info', event, fields),
    });
    stops.push(() => idp.close());
    const idpListener = await listenHttp(idp.handler, idpPort, LOOPBACK);
    stops.push(() => idpListener.close());

    const deployment = {
      publicUrl: url,
      issuer,
      tokenUrl: idp.tokenUrl,
      webClientSecretFile: idp.webClientSecretFile,
      stateDirectory,
    };
    const admin = startAdmin(deployment, idp, log, stops);
    const adminListener = await listenHttp(admin.handler, 0, LOOPBACK);
    stops.push(() => adminListener.close());
    const backend = options.upstream ?? (await startConsole(issuer, stops));

    const gateway = createGateway({
      publicOrigin: url,
      upstreamFor: (name) =>
        name === 'admin' ? `http://${LOOPBACK}:${adminListener.port}` : backend,
      answer: admin.answer,
      backendHeaders: admin.backendHeaders,
      log: (event, fields) => log('info', event, fields),
    });
    await gateway.listen(port, LOOPBACK);
    stops.push(() => gateway.drain());
    announce(
      {
        url,
        issuer,
        users: idp.users,
        passwordsFile: idp.passwordsFile,
        deploymentFile: writeDeploymentFile(deployment),
        logFile,
        signInAs: options.signInAs,
      },
      options.json === true,
      stdio,
    );
    await stopSignal();
    return EXIT.ok;
  } finally {
    for (const stop of stops.toReversed()) await stop();
    logStream.end();
  }
}

/** The production graph, configured by nothing but the deployment variables. */
function startAdmin(
  deployment: Deployment,
  idp: EmbeddedIdp,
  log: Log,
  stops: Stop[],
): AdminServer {
  const loaded = loadConfig(
    {
      env: deploymentVariables(deployment),
      flags: {
        'admin.clientSecretLocation': idp.serviceClientSecretFile,
        trustedProxies: [LOOPBACK],
      },
    },
    'serve',
  );
  if (!loaded.ok) throw unusable(loaded.error);
  const secret = openClientSecret(idp.webClientSecretFile, log);
  if (!secret.ok) throw unusable([secret.error]);
  const admin = createAdmin(
    loaded.value.config,
    () => secret.value.current(),
    createSystemPorts(log),
  );
  stops.push(() => {
    admin.close();
    secret.value.close();
  });
  return admin;
}

function unusable(problems: readonly ConfigProblem[]): SallyportError {
  const detail = problems.map(formatConfigProblem).join('; ');
  return new SallyportError('SP_CONFIG_INVALID', { component: 'up', detail });
}

async function startConsole(idpOrigin: string, stops: Stop[]): Promise<string> {
  const listener = await listenHttp(createConsole(idpOrigin), 0, LOOPBACK);
  stops.push(() => listener.close());
  return `http://${LOOPBACK}:${listener.port}`;
}
