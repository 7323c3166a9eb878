/**
 * `sallyport serve` in several processes: this one starts the others and serves nothing itself.
 *
 * @module
 */

import { type ConfigSources, formatConfigProblem, type LoadedConfig } from '@sallyport/config';
import type { Schedule } from '@sallyport/server';
import { reportProblems } from '../commands/configuration.ts';
import { stopSignal } from '../commands/stop-signal.ts';
import { EXIT, type Stdio } from '../stdio.ts';
import { findFreePort } from '../up/free-port.ts';
import { announceReady } from './announce-ready.ts';
import { createClusterWorkers } from './cluster-worker.ts';
import { createLineLog } from './line-log.ts';
import { superviseWorkers } from './supervise-workers.ts';

/**
 * Runs the workers until the process is told to stop. Reads no secret and opens no store.
 *
 * @returns The exit code.
 * @throws {SallyportError} `SP_WORKER_FAILED` when a worker cannot be kept running.
 */
export async function serveWithWorkers(
  { config, warnings }: LoadedConfig,
  { file, flags }: ConfigSources,
  isJson: boolean,
  stdio: Stdio,
): Promise<number> {
  const log = createLineLog(config.observe.logLevel, Date.now, (line) =>
    process.stderr.write(line),
  );
  for (const warning of warnings)
    log('warn', 'configuration', { problem: formatConfigProblem(warning) });
  const { host } = config.listen;
  const port = config.listen.port === 0 ? await findFreePort(host) : config.listen.port;
  const ended = await superviseWorkers({
    count: config.server.workers,
    startWorker: createClusterWorkers({ ...(file === undefined ? {} : { file }), flags }, port),
    stopRequested: stopSignal(),
    onReady: () => announceReady(host, port, stdio),
    now: Date.now,
    schedule: keepAlive,
    log,
  });
  if (ended.ok) return EXIT.ok;
  if (ended.error.kind === 'problems') reportProblems(ended.error.problems, isJson, stdio);
  else stdio.error(`sallyport: ${ended.error.sentence}`);
  return EXIT.failure;
}

const keepAlive: Schedule = (afterMs, callback) => {
  const timer = setTimeout(callback, afterMs);
  return () => clearTimeout(timer);
};
