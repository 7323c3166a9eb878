/**
 * `sallyport serve`: the admin service's authentication for production.
 *
 * @module
 */

import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import {
  type ConfigurationOptions,
  createConfigurationReader,
  reportProblems,
} from '../admin/configuration.ts';
import { countWorkers } from '../serve/count-workers.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface ServeOptions extends ConfigurationOptions {
  readonly check?: boolean;
  /** With `check`: asks the identity providers, too. */
  readonly online?: boolean;
  readonly json?: boolean;
}

/**
 * Runs until SIGTERM or SIGINT. Writes `ready <url>` once it listens, with every worker when there are
 * several; it is ready for people once `/readyz` says so, which needs the IdP's metadata.
 *
 * What only some process needs is loaded there: the one that starts workers stays small.
 *
 * @returns The exit code: 0 after a stop or a good check, 1 for a bad configuration, 5 when an issuer was to be asked and cannot be, 130 when
 *   that was interrupted.
 * @throws {SallyportError} `SP_PORT_IN_USE`; `SP_LISTEN_FAILED`; `SP_THREAD_FAILED`; `SP_WORKER_FAILED` when a worker cannot be kept running.
 */
export async function serve(options: ServeOptions, stdio: Stdio): Promise<number> {
  if (cluster.isWorker) {
    // The channel to the primary must not keep a worker that cannot be loaded.
    process.channel?.unref();
    const { runWorker } = await import('../serve/worker.ts');
    return runWorker();
  }
  const isJson = options.json === true;
  const reader = createConfigurationReader(options, process.env);
  const first = reader.read();
  if (!first.ok) {
    reportProblems(first.error, isJson, stdio);
    return EXIT.failure;
  }
  const { loaded, sources } = first.value;
  const workers = countWorkers(loaded.config.server.workers, availableParallelism());
  if (options.check !== true && workers > 1) {
    const { serveWithWorkers } = await import('../serve/serve-with-workers.ts');
    return serveWithWorkers(loaded, workers, sources, reader, isJson, stdio);
  }
  if (options.check === true) {
    const { checkConfiguration } = await import('../serve/check-configuration.ts');
    const isOnline = options.online === true;
    return checkConfiguration(loaded, reader, { isJson, isOnline }, stdio);
  }
  const { serveAlone } = await import('../serve/serve-alone.ts');
  return serveAlone(loaded, reader, isJson, stdio);
}
