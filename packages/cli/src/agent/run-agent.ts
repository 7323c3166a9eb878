/**
 * The agent at work: composed, reloaded, stopped.
 *
 * @module
 */

import type { ClientSettings } from '@sallyport/client';
import { formatConfigProblem } from '@sallyport/config';
import { boundLog, type Log } from '@sallyport/server/observe';
import { reportProblems } from '../admin/configuration.ts';
import { describeFile } from '../admin/watch-file.ts';
import { boundLines } from '../observe/bounded-lines.ts';
import { createLineLog } from '../observe/line-log.ts';
import { stopSignal } from '../process/stop-signal.ts';
import { systemSchedule } from '../process/system-schedule.ts';
import type { Environment } from '../profile/sources.ts';
import { announceReady } from '../serve/announce-ready.ts';
import { logReload, logStart } from '../serve/log-reload.ts';
import { captureProcessSignals } from '../serve/reload-triggers.ts';
import { createFetch } from '../sign-in/network.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { openDoors } from './agent-doors.ts';
import { createAgentMetrics } from './agent-metrics.ts';
import type { AgentPlan } from './agent-plan.ts';
import { readAgentSettings } from './agent-settings.ts';
import { createCurrentKeeper } from './current-keeper.ts';
import { createKeptCopy } from './kept-copy.ts';
import { createRecentSecrets } from './recent-secrets.ts';
import { openTokenFile, type TokenFile } from './token-file.ts';

/**
 * Keeps a token fresh until SIGTERM or SIGINT, and gives it at the places of the plan. Writes `ready <places>` with
 * the first token; until then it tries, and the log says why there is none. SIGHUP and a changed file reload the
 * configuration.
 *
 * At the end token file, socket and capability file are removed.
 *
 * @returns 0 after a stop, 1 for a bad configuration.
 * @throws {SallyportError} `SP_PORT_IN_USE`, `SP_LISTEN_FAILED`, `SP_STATE_IN_USE`, `SP_STATE_UNUSABLE` when a place
 *   cannot be had.
 */
export async function runAgent(
  plan: AgentPlan,
  environment: Environment,
  isJson: boolean,
  stdio: Stdio,
): Promise<ExitCode> {
  const signals = captureProcessSignals();
  const { log: written, close: closeLog } = openLog();
  const metrics = createAgentMetrics(written, Date.now);
  const { log } = metrics;
  const known = describeFile(plan.configFile);
  const read = () => readAgentSettings(plan.configFile, plan.block, environment);
  const first = read();
  if (!first.ok) {
    reportProblems(first.error, isJson, stdio);
    return EXIT.failure;
  }
  const { settings, warnings } = first.value;
  const secrets = createRecentSecrets();
  const prepareFetch = (next: ClientSettings) =>
    createFetch({ ...next, endpoint: next.endpoint?.origin ?? '' }, environment, secrets.conceal);
  const network = await prepareFetch(settings);
  if (!network.ok) return reportFailure(network.error, isJson, stdio);
  for (const warning of warnings)
    log('warn', 'configuration', { problem: formatConfigProblem(warning) });

  const file = plan.tokenFile === undefined ? undefined : await openTokenFile(plan.tokenFile.path);
  const copy =
    file === undefined
      ? undefined
      : createKeptCopy(file, plan.tokenFile?.isHeaderLine === true, systemSchedule, log);
  let ready: (() => void) | undefined;
  const current = createCurrentKeeper({
    settings,
    fetch: network.value,
    read,
    createFetch: prepareFetch,
    cleanse: secrets.cleanse,
    onToken(held) {
      copy?.put(held);
      ready?.();
      ready = undefined;
    },
    report: (outcome) => logReload(log, plan.configFile, outcome),
    log,
  });
  const doors = await openDoors(plan, current.keeper, log).catch(async (cause: unknown) => {
    await file?.close();
    throw cause;
  });
  const scrapes =
    plan.metrics === undefined
      ? undefined
      : await metrics.listen(plan.metrics, current.keeper).catch(async (cause: unknown) => {
          await doors.close();
          await file?.close();
          throw cause;
        });
  const places = listPlaces(plan, doors.address, scrapes?.port);
  log('info', 'agent_listening', places);
  ready = () => announce(places, isJson, stdio);
  const disconnect = signals.connect({
    file: plan.configFile,
    known,
    schedule: systemSchedule,
    reload: (reason) => current.reload(reason),
    restart: () =>
      log('warn', 'restart_refused', { detail: 'the agent has no workers; SIGHUP reloads it' }),
  });
  logStart(log, plan.configFile);
  // A program that waits for the ready line may send SIGTERM at once.
  const stopRequested = stopSignal();
  current.start();

  const signal = await stopRequested;
  log('info', 'stopping', { signal });
  disconnect();
  copy?.close();
  await current.close();
  await doors.close();
  await scrapes?.close();
  await closeFile(file, log);
  closeLog();
  return EXIT.ok;
}

function announce(places: Readonly<Record<string, string>>, isJson: boolean, stdio: Stdio): void {
  if (isJson) stdio.out(JSON.stringify({ ready: true, ...places }));
  else announceReady(Object.values(places).join(' '), stdio);
}

function openLog() {
  const stderr = boundLines(process.stderr, (lines) =>
    plain('warn', 'log_lines_left_out', { lines }),
  );
  const plain: Log = createLineLog('info', Date.now, (line) => stderr.write(line));
  return boundLog(plain, systemSchedule);
}

function listPlaces(
  { socketPath, tokenFile, metrics }: AgentPlan,
  address: string | undefined,
  metricsPort: number | undefined,
): Readonly<Record<string, string>> {
  return {
    ...(socketPath === undefined ? {} : { socket: `unix:${socketPath}` }),
    ...(address === undefined ? {} : { address: `http://${address}` }),
    ...(tokenFile === undefined ? {} : { token_file: tokenFile.path }),
    ...(metrics === undefined ? {} : { metrics: `http://${metrics.host}:${metricsPort}/metrics` }),
  };
}

async function closeFile(file: TokenFile | undefined, log: Log): Promise<void> {
  try {
    await file?.close();
  } catch (cause) {
    const { describeFailure } = await import('@sallyport/server/observe');
    log('error', 'token_file_failed', { file: file?.path, failure: describeFailure(cause) });
  }
}
