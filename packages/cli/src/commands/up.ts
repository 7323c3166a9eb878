/**
 * `sallyport up`: the whole plane on one machine, for looking at it and developing against it.
 *
 * @module
 */

import { createWriteStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { API_SCOPE, createEmbeddedIdp } from '@sallyport/idp';
import { createPinoLog } from '@sallyport/server';
import { listenOnOnePort } from '@sallyport/server/listener';
import { createConsoleKey } from '../console/console-key.ts';
import { type ConsoleOptions, createConsole } from '../console/console-server.ts';
import { findFreePort } from '../process/free-port.ts';
import { stopSignal } from '../process/stop-signal.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { announce } from '../up/announcement.ts';
import { createAdminToken, writeApiKeyAdminFile } from '../up/api-key-admin-file.ts';
import { CLIENT_IDS, writeDeploymentFile } from '../up/deployment.ts';
import { listenHttp } from '../up/http-listener.ts';
import { openGateway } from '../up/open-gateway.ts';
import { createPlaneFetch } from '../up/plane-fetch.ts';
import type { Platform } from '../up/platform/start-platform.ts';
import { startAdmin } from '../up/start-admin.ts';
import { openStateFolder } from '../up/state-folder.ts';
import { openTlsFiles } from '../up/tls-files.ts';

/** Options of the command line. */
export interface UpOptions {
  readonly port: number;
  readonly idpPort?: number;
  readonly state: string;
  readonly upstream?: string;
  readonly signInAs?: string;
  /** Whether the public URL is the https one; the port speaks TLS either way. */
  readonly https?: boolean;
  /** Whether the native app may stay signed in by refresh tokens, and asks for them. */
  readonly cliRefreshTokens?: boolean;
  /** Whether the platform's services run, too: programs that call one another. */
  readonly platform?: boolean;
  readonly json?: boolean;
}

/**
 * Two names of the loopback, so that the IdP is another site to the browser, as it is in production:
 * cookies do not mix, and SameSite has something to do.
 */
const PUBLIC_HOST = 'localhost';
/** Named where the identity provider's port is taken, which follows that of the gateway. */
const MOVES_BOTH = '--port, which moves the identity provider, too';
const LOOPBACK = '127.0.0.1';

/** Something to stop again, in the reverse order of starting. */
type Stop = () => Promise<void> | void;

/**
 * Runs until SIGTERM or SIGINT. Listens on the loopback only. Writes `ready <url>` once the gateway
 * answers.
 *
 * @returns 0 after a stop.
 * @throws {SallyportError} `SP_STATE_UNUSABLE`; `SP_STATE_IN_USE`; `SP_THREAD_FAILED`; `SP_PORT_IN_USE` naming the
 *   port; what was started is stopped first.
 */
export async function up(options: UpOptions, stdio: Stdio): Promise<number> {
  const stateDirectory = resolve(options.state);
  const leaveFolder = openStateFolder(stateDirectory);
  const logFile = join(stateDirectory, 'sallyport.log');
  const logStream = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  const log = createPinoLog('info', logStream);
  const stops: Stop[] = [leaveFolder];
  try {
    const port = options.port === 0 ? await findFreePort(LOOPBACK) : options.port;
    const idpPort =
      options.idpPort ?? (options.port === 0 ? await findFreePort(LOOPBACK) : port + 1);
    // An origin names no default port: `--port 443` is https://localhost.
    const httpsUrl = new URL(`https://${PUBLIC_HOST}:${port}`).origin;
    const url = options.https === true ? httpsUrl : new URL(`http://${PUBLIC_HOST}:${port}`).origin;
    const tls = openTlsFiles(stateDirectory, Date.now());
    const issuer = `http://${LOOPBACK}:${idpPort}`;
    const adminToken = createAdminToken();
    const idp = await createEmbeddedIdp({
      issuer,
      publicUrl: url,
      stateDirectory: join(stateDirectory, 'idp'),
      clientIds: CLIENT_IDS,
      ...(options.signInAs === undefined ? {} : { signInAs: options.signInAs }),
      nativeRefreshTokens: options.cliRefreshTokens === true,
      fetch: await createPlaneFetch(url, tls.caFile),
      adminToken,
      log: (event, fields) => log('info', event, fields),
    });
    stops.push(() => idp.close());
    const idpOption = options.idpPort === undefined ? MOVES_BOTH : '--idp-port';
    const idpListener = await listenHttp(idp.handler, idpPort, LOOPBACK, idpOption);
    stops.push(() => idpListener.close());
    const admission = { issuer, publicUrl: url, token: adminToken };
    stops.push(writeApiKeyAdminFile(stateDirectory, admission));

    const deployment = {
      publicUrl: url,
      issuer,
      tokenUrl: idp.tokenUrl,
      webClientSecretFile: idp.webClientSecretFile,
      stateDirectory,
    };
    const admin = await startAdmin(
      {
        deployment,
        idp,
        log,
        gateway: LOOPBACK,
        clientScopes:
          options.cliRefreshTokens === true ? [API_SCOPE, 'offline_access'] : [API_SCOPE],
      },
      stops,
    );
    const adminListener = await listenOnOnePort(admin.handlers.http, { port: 0, host: LOOPBACK });
    stops.push(() => {
      admin.stopping();
      return adminListener.close();
    });
    let platform: Platform | undefined;
    const hasPlatform = options.platform === true;
    const viewPlatform = () => platform?.view() ?? [];
    const consoleKey = createConsoleKey();
    const consoleOrigin =
      options.upstream ??
      (await startConsole(
        {
          idpOrigin: issuer,
          key: consoleKey,
          viewPlatform: hasPlatform ? viewPlatform : undefined,
        },
        stops,
      ));
    await openGateway(
      {
        publicUrl: url,
        port,
        host: LOOPBACK,
        tls,
        admin,
        adminOrigin: `http://${LOOPBACK}:${adminListener.port}`,
        consoleOrigin,
        consoleKey,
        upstream: options.upstream,
        platform: hasPlatform ? (...service) => platform?.findService(...service) : undefined,
        log,
      },
      stops,
    );
    if (hasPlatform) {
      const { startPlatform } = await import('../up/platform/start-platform.ts');
      const plane = { stateDirectory, publicUrl: url, httpsUrl, caFile: tls.caFile, issuer, idp };
      const started = await startPlatform(plane);
      platform = started;
      stops.push(() => started.stop());
    }
    // A reader of the ready line may send a signal at once.
    const stopped = stopSignal();
    announce(
      {
        url,
        httpsUrl,
        caFile: tls.caFile,
        issuer,
        users: idp.users,
        passwordsFile: idp.passwordsFile,
        deploymentFile: writeDeploymentFile(deployment),
        logFile,
        signInAs: options.signInAs,
        platformFolder: platform?.folder,
      },
      options.json === true,
      stdio,
    );
    await stopped;
    return EXIT.ok;
  } finally {
    for (const stop of stops.toReversed()) await stop();
    logStream.end();
  }
}

async function startConsole(options: ConsoleOptions, stops: Stop[]): Promise<string> {
  const listener = await listenHttp(createConsole(options), 0, LOOPBACK);
  stops.push(() => listener.close());
  return `http://${LOOPBACK}:${listener.port}`;
}
