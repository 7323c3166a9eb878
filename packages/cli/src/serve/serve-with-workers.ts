/**
 * `sallyport serve` in several processes: this one starts the others and serves nothing itself.
 *
 * @module
 */

import { type ConfigSources, formatConfigProblem, type LoadedConfig } from '@sallyport/config';
import type { Schedule } from '@sallyport/server';
import { type ConfigurationReader, reportProblems } from '../admin/configuration.ts';
import { logAddresses } from '../admin/registered-addresses.ts';
import { exposeWorkersMetrics } from '../observe/metrics.ts';
import { openPrimaryLog } from '../observe/primary-log.ts';
import { findFreePort } from '../process/free-port.ts';
import { stopSignal } from '../process/stop-signal.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { announceReady, placeOf } from './announce-ready.ts';
import { createClusterWorkers } from './cluster-worker.ts';
import { LISTEN_KEYS } from './listen-keys.ts';
import { logReload, logStart } from './log-reload.ts';
import { rollPartially } from './partial-roll.ts';
import { publishForWorkers } from './published-workers.ts';
import { captureProcessSignals } from './reload-triggers.ts';
import { createReloads } from './reloads.ts';
import { superviseWorkers } from './supervise-workers.ts';
import type { StartWorker } from './worker-process.ts';

/**
 * Runs the workers until SIGTERM or SIGINT. Reads no secret and opens no store.
 *
 * @param count - How many.
 * @param first - Where the configuration came from.
 * @param reader - Reads it again.
 *
 * @returns The exit code.
 * @throws {SallyportError} `SP_WORKER_FAILED` when a worker cannot be kept running; `SP_PORT_IN_USE` and
 *   `SP_LISTEN_FAILED` when its own port cannot be had.
 */
export async function serveWithWorkers(
  { config, warnings }: LoadedConfig,
  count: number,
  first: ConfigSources,
  { file, known, read }: ConfigurationReader,
  isJson: boolean,
  stdio: Stdio,
): Promise<number> {
  const signals = captureProcessSignals();
  const serviceLog = openPrimaryLog(config.observe);
  const { log } = serviceLog;
  for (const warning of warnings)
    log('warn', 'configuration', { problem: formatConfigProblem(warning) });
  logAddresses(config, log);
  const { host } = config.listen;
  // Loaded where it is asked for: this process stays small.
  const socket =
    config.server.listen === ''
      ? undefined
      : (await import('./unix-socket.ts')).openUnixSocket(config);
  const port =
    socket === undefined && config.listen.port === 0
      ? await findFreePort(host, LISTEN_KEYS)
      : config.listen.port;
  const place = socket === undefined ? { port } : { socketPath: socket.bindPath };
  const metrics = await exposeWorkersMetrics(config.observe.metrics, count, keepAlive, serviceLog);
  const startWith = ({ file, flags }: ConfigSources): StartWorker => {
    const start = createClusterWorkers({ ...(file === undefined ? {} : { file }), flags }, place);
    return socket === undefined ? start : publishForWorkers(start, socket);
  };
  let { drainDelayMs } = config.server;
  let sources = first;
  const supervision = superviseWorkers({
    count,
    startWorker: startWith(sources),
    stopRequested: stopSignal(),
    drainDelayMs: () => drainDelayMs,
    onReady: () => announceReady(placeOf(config, port), stdio),
    now: Date.now,
    schedule: keepAlive,
    log: metrics.log,
  });
  const rollTo = (to: ConfigSources, signal: AbortSignal) =>
    rollPartially(supervision, startWith(to), signal);
  const reloads = createReloads({
    config,
    read,
    async apply(next, signal) {
      const rolled = await rollTo(next.sources, signal);
      if (rolled.ok) {
        sources = next.sources;
        ({ drainDelayMs } = next.loaded.config.server);
      }
      return rolled;
    },
    restore: (signal) => rollTo(sources, signal),
    report: (outcome) => logReload(metrics.log, file, outcome),
  });
  const disconnect = signals.connect({
    file,
    known,
    schedule: keepAlive,
    reload(reason) {
      if (reason === 'signal') serviceLog.reopen();
      reloads.reload(reason);
    },
    restart() {
      const isTaken = reloads.restart(async (signal) => {
        log('info', 'restart_begun');
        const rolled = await rollTo(sources, signal);
        if (rolled.ok) log('info', 'restart_done');
        else if (rolled.error.kind === 'failed')
          log('error', 'restart_stopped', { failure: rolled.error.sentence });
        return rolled.ok;
      });
      if (!isTaken)
        log('info', 'restart_superseded', {
          detail: 'a reload is under way, which replaces every worker',
        });
    },
  });
  logStart(metrics.log, file);
  try {
    const ended = await supervision.ended;
    if (ended.ok) return EXIT.ok;
    if (ended.error.kind === 'problems') reportProblems(ended.error.problems, isJson, stdio);
    else stdio.error(`sallyport: ${ended.error.sentence}`);
    return EXIT.failure;
  } finally {
    disconnect();
    socket?.remove();
    await reloads.close();
    await metrics.close();
    await serviceLog.close();
  }
}

const keepAlive: Schedule = (afterMs, callback) => {
  const timer = setTimeout(callback, afterMs);
  return () => clearTimeout(timer);
};
