/**
 * One worker of `sallyport serve`: the same server as without workers, directed by the primary process.
 *
 * @module
 */

import { loadConfig } from '@sallyport/config';
import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import { describeFailure } from '@sallyport/server/observe';
import { answerForWorker, openMetrics } from '../observe/metrics.ts';
import { openServiceLog } from '../observe/service-log.ts';
import { EXIT } from '../terminal/stdio.ts';
import { type Assignment, openPrimaryChannel } from './primary-channel.ts';
import { openSecrets, type RunningServer, startServer } from './server.ts';
import type { StartFailure } from './worker-process.ts';

/** A worker that replaces another one has to be ready within this time. */
const WARM_UP_MS = 30_000;

/**
 * Runs until the primary stops it, and ends the process, which the channel would keep alive. Failures are
 * reported by the primary.
 */
export async function runWorker(): Promise<never> {
  const channel = openPrimaryChannel();
  const unwanted = new AbortController();
  void channel.stopRequested.then(() => unwanted.abort());
  const assignment = await Promise.race([channel.assignment, channel.stopRequested]);
  if (!('sources' in assignment)) process.exit(EXIT.ok);
  const started = await start(assignment, unwanted.signal);
  if (!started.ok) {
    // It was stopped before it listened: that is no failure.
    if (unwanted.signal.aborted) process.exit(EXIT.ok);
    await channel.report(started.error);
    process.exit(EXIT.failure);
  }
  await channel.report({ kind: 'listening' });
  const { drainDelayMs } = await channel.stopRequested;
  try {
    await started.value.stop(drainDelayMs === undefined ? undefined : { drainDelayMs });
  } catch (cause) {
    await channel.report(describe(cause));
    process.exit(EXIT.failure);
  }
  process.exit(EXIT.ok);
}

async function start(
  { number, place, isReplacement, sources }: Assignment,
  signal: AbortSignal,
): Promise<Result<RunningServer, StartFailure>> {
  try {
    const loaded = loadConfig({ ...sources, env: process.env }, 'serve');
    // The primary has read the same, so there are none.
    if (!loaded.ok) return refuse({ kind: 'problems', problems: loaded.error });
    const { config } = loaded.value;
    const metrics = openMetrics(config.observe.metrics, number);
    const serviceLog = openServiceLog(config.observe, number, metrics);
    const { log } = serviceLog;
    const secrets = openSecrets(config, log);
    if (!secrets.ok) return refuse({ kind: 'problems', problems: secrets.error });
    const listen = { ...config.listen, ...('port' in place ? place : {}) };
    const running = await startServer({ ...config, listen }, secrets.value, log, {
      metrics,
      socketPath: 'socketPath' in place ? place.socketPath : undefined,
      ...(isReplacement ? { warmUpWithinMs: WARM_UP_MS, signal } : {}),
    });
    const toPrimary = answerForWorker(number, metrics, log);
    return accept({
      ...running,
      async stop(stop) {
        await running.stop(stop);
        await toPrimary.sayLast();
        await serviceLog.close();
      },
    });
  } catch (cause) {
    return refuse(describe(cause));
  }
}

/** The sentence of a failure, as the command says it of its own. */
function describe(cause: unknown): StartFailure {
  const sentence = cause instanceof SallyportError ? cause.message : describeFailure(cause);
  return { kind: 'failed', sentence };
}
