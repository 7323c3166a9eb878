/**
 * What both commands on sessions begin and end with: configuration, store and key ring.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import { createPinoLog } from '@sallyport/server';
import {
  type ConfigurationOptions,
  readConfiguration,
  reportProblems,
} from '../admin/configuration.ts';
import type { Interruption } from '../process/interruption.ts';
import { createSystemPorts } from '../process/ports.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { type OpenedSessions, openSessions } from './open-sessions.ts';
import { toStoreFailure } from './report-ended.ts';

/** Options of both commands. */
export interface SessionsOptions extends Pick<ConfigurationOptions, 'config' | 'state'> {
  readonly subject?: string;
  readonly issuer?: string;
  readonly json?: boolean;
}

/**
 * Opens what the configuration names, does the work with it and closes it.
 *
 * @returns The work's exit code; 1 after a report of what is wrong with the configuration, or what failed.
 */
export async function withSessions(
  options: SessionsOptions,
  stdio: Stdio,
  { signal }: Interruption,
  work: (opened: OpenedSessions, config: Config) => Promise<ExitCode>,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const loaded = readConfiguration(options, process.env);
  if (!loaded.ok) {
    reportProblems(loaded.error, isJson, stdio);
    return EXIT.failure;
  }
  const { config } = loaded.value;
  // A person reads a failure in a sentence; lines of the log are for a collector.
  const threshold = process.stderr.isTTY ? 'error' : config.observe.logLevel;
  const ports = createSystemPorts(createPinoLog(threshold, process.stderr));
  let opened: OpenedSessions | undefined;
  try {
    opened = await openSessions(config, ports);
    return await work(opened, config);
  } catch (error) {
    return reportFailure(toStoreFailure(error, signal.aborted), isJson, stdio);
  } finally {
    opened?.close();
  }
}

/** The principal that is meant: of the issuer people sign in at, unless another is named. */
export function selectPrincipal(
  { subject, issuer }: Pick<SessionsOptions, 'subject' | 'issuer'>,
  { auth }: Config,
): { readonly issuer: string; readonly subject: string } | undefined {
  return subject === undefined
    ? undefined
    : { issuer: issuer ?? auth.userAuth.openId.baseUrl, subject };
}
