/**
 * One worker of `sallyport serve`: the same server as without workers, told what to do by its primary.
 *
 * @module
 */

import { loadConfig } from '@sallyport/config';
import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import { createPinoLog, describeFailure, type Log } from '@sallyport/server';
import { EXIT } from '../stdio.ts';
import { type Assignment, openPrimaryChannel } from './primary-channel.ts';
import { openSecrets, type RunningServer, startServer } from './server.ts';
import type { StartFailure } from './worker-process.ts';

/**
 * Runs until the primary wants it to stop, and ends the process: the channel would keep it. What goes
 * wrong is the primary's to tell.
 */
export async function runWorker(): Promise<never> {
  const channel = openPrimaryChannel();
  const started = await start(await channel.assignment);
  if (!started.ok) {
    await channel.report(started.error);
    process.exit(EXIT.failure);
  }
  await channel.report({ kind: 'listening' });
  await channel.stopRequested;
  try {
    await started.value.stop();
  } catch (cause) {
    await channel.report(describe(cause));
    process.exit(EXIT.failure);
  }
  process.exit(EXIT.ok);
}

async function start({
  number,
  port,
  sources,
}: Assignment): Promise<Result<RunningServer, StartFailure>> {
  try {
    const loaded = loadConfig({ ...sources, env: process.env }, 'serve');
    // The primary has read the same, so there are none.
    if (!loaded.ok) return refuse({ kind: 'problems', problems: loaded.error });
    const { config } = loaded.value;
    const log = withWorker(createPinoLog(config.observe.logLevel, process.stderr), number);
    const secrets = openSecrets(config, log);
    if (!secrets.ok) return refuse({ kind: 'problems', problems: secrets.error });
    const listen = { ...config.listen, port };
    return accept(await startServer({ ...config, listen }, secrets.value, log));
  } catch (cause) {
    return refuse(describe(cause));
  }
}

/** The sentence of a failure, as the command says it of its own. */
function describe(cause: unknown): StartFailure {
  const sentence = cause instanceof SallyportError ? cause.message : describeFailure(cause);
  return { kind: 'failed', sentence };
}

/** Says in every line whose it is. */
function withWorker(log: Log, worker: number): Log {
  return (level, event, fields) => log(level, event, { ...fields, worker });
}
