/**
 * `sallyport serve` in one process.
 *
 * @module
 */

import { formatConfigProblem, type LoadedConfig } from '@sallyport/config';
import { accept, refuse } from '@sallyport/protocol';
import { type ConfigurationReader, reportProblems } from '../admin/configuration.ts';
import { logAddresses } from '../admin/registered-addresses.ts';
import { exposeMetrics, openMetrics } from '../observe/metrics.ts';
import { openServiceLog } from '../observe/service-log.ts';
import { stopSignal } from '../process/stop-signal.ts';
import { systemSchedule } from '../process/system-schedule.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { announceReady, placeOf } from './announce-ready.ts';
import { logReload, logStart } from './log-reload.ts';
import { captureProcessSignals } from './reload-triggers.ts';
import { createReloads } from './reloads.ts';
import { openSecrets, startServer } from './server.ts';
import { openUnixSocket, type UnixSocket } from './unix-socket.ts';

/**
 * Serves until SIGTERM or SIGINT; carries out changes of the configuration meanwhile.
 *
 * @param read - Reads the configuration again, from where it came.
 *
 * @returns The exit code.
 */
export async function serveAlone(
  { config, warnings }: LoadedConfig,
  { file, known, read }: ConfigurationReader,
  isJson: boolean,
  stdio: Stdio,
): Promise<number> {
  const signals = captureProcessSignals();
  const metrics = openMetrics(config.observe.metrics);
  const serviceLog = openServiceLog(config.observe, undefined, metrics);
  const { log } = serviceLog;
  const secrets = openSecrets(config, log);
  if (!secrets.ok) {
    reportProblems(secrets.error, isJson, stdio);
    return EXIT.failure;
  }
  for (const warning of warnings)
    log('warn', 'configuration', { problem: formatConfigProblem(warning) });
  logAddresses(config, log);
  const scrapes = await exposeMetrics(config.observe.metrics, metrics, log);
  let socket: UnixSocket | undefined;
  const start = async () => {
    socket = openUnixSocket(config);
    const socketPath = socket?.bindPath;
    const started = await startServer(config, secrets.value, log, { metrics, socketPath });
    try {
      await socket?.publish();
    } catch (cause) {
      await started.stop();
      throw cause;
    }
    return started;
  };
  const server = await start().catch(async (cause: unknown) => {
    // Else a process that serves nothing would go on answering who watches it.
    socket?.remove();
    await scrapes?.close();
    await serviceLog.close();
    throw cause;
  });
  let { drainDelayMs } = config.server;
  const reloads = createReloads({
    config,
    read,
    async apply({ loaded }, signal) {
      const next = openSecrets(loaded.config, log);
      if (!next.ok) return refuse({ kind: 'problems', problems: next.error });
      if (!(await server.replace(loaded.config, next.value, signal)))
        return refuse({ kind: 'superseded' });
      ({ drainDelayMs } = loaded.config.server);
      return accept(undefined);
    },
    report: (outcome) => logReload(log, file, outcome),
  });
  const disconnect = signals.connect({
    file,
    known,
    schedule: systemSchedule,
    reload(reason) {
      if (reason === 'signal') serviceLog.reopen();
      reloads.reload(reason);
    },
    restart: () =>
      log('warn', 'restart_refused', {
        detail: 'one process cannot take its own place; that needs server.workers of two or more',
      }),
  });
  logStart(log, file);
  // A program that waits for the ready line may send SIGTERM at once.
  const stopRequested = stopSignal();
  announceReady(placeOf(config, server.port), stdio);

  const signal = await stopRequested;
  log('info', 'stopping', { signal });
  disconnect();
  await reloads.close();
  await server.stop({ drainDelayMs, onClosing: () => socket?.remove() });
  await scrapes?.close();
  await serviceLog.close();
  return EXIT.ok;
}
