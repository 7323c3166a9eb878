/**
 * `sallyport sessions revoke`: an operator ends sessions.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { parseSessionId } from '@sallyport/server';
import { createAudit, type Log } from '@sallyport/server/observe';
import { openOperatorLog } from '../observe/operator-log.ts';
import type { Interruption } from '../process/interruption.ts';
import {
  type EndedSession,
  type EndingPorts,
  type EndReport,
  endAllSessions,
  endByIds,
  endOfPrincipal,
  NOTHING_ENDED,
} from '../sessions/end-sessions.ts';
import { assertRingOpens, type OpenedSessions } from '../sessions/open-sessions.ts';
import { readOperator } from '../sessions/operator.ts';
import { createProgress } from '../sessions/progress.ts';
import { readSessions } from '../sessions/read-sessions.ts';
import {
  auditEnded,
  describeEnded,
  describeEnding,
  reportEnded,
} from '../sessions/report-ended.ts';
import { type SessionsOptions, selectPrincipal, withSessions } from '../sessions/with-sessions.ts';
import { confirm } from '../terminal/confirmation.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. Exactly one of `ids`, `subject` and `all` is given. */
export interface SessionsRevokeOptions extends SessionsOptions {
  readonly ids: readonly number[];
  readonly all?: boolean;
  readonly yes?: boolean;
}

/**
 * Reads session ids, each once.
 *
 * @returns The ids, or a sentence. It repeats no word: a whole cookie value holds a secret.
 */
export function parseIds(words: readonly string[]): Result<readonly number[], string> {
  const ids = new Set<number>();
  for (const [index, word] of words.entries()) {
    const id = parseSessionId(word);
    if (id === undefined) {
      const what = word.startsWith('-') ? 'neither an option nor a session id' : 'no session id';
      return refuse(`argument ${index + 1} is ${what}: give the eight characters of the ID column`);
    }
    ids.add(id);
  }
  return accept([...ids]);
}

/**
 * Ends sessions; each end is durable before it is reported. Running servers stop admitting them within a second.
 *
 * @returns 1 when an id is of no session, or the store failed; what was ended stays ended.
 */
export async function revokeSessions(
  options: SessionsRevokeOptions,
  stdio: Stdio,
  interruption: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  return withSessions(options, stdio, interruption, async (opened, config) => {
    const { signal } = interruption;
    const how = { isJson, wasInterrupted: () => signal.aborted };
    try {
      await assertRingOpens(opened.sessions, config.session.keyRingFile);
    } catch (failure) {
      return reportEnded({ ...NOTHING_ENDED, untouched: options.ids, failure }, how, stdio);
    }
    if (options.all === true && !(await isAgreed(options, opened, config, stdio, signal)))
      return reportFailure(NOT_CONFIRMED, isJson, stdio);
    const record = openOperatorLog(config.observe);
    let report: EndReport;
    try {
      const onEnded = createReporter(record.log, isJson, stdio);
      report = await end(options, config, { ...opened, now: Date.now, onEnded, signal });
    } finally {
      await record.close();
    }
    const code = reportEnded(report, how, stdio);
    const summary = describeEnding(report, options);
    if (!isJson && summary !== '') stdio.error(summary);
    return code;
  });
}

const NOT_CONFIRMED = {
  error: 'not_confirmed',
  description: 'nothing was ended.',
  hint: '',
  exitCode: EXIT.failure,
};

function end(
  options: SessionsRevokeOptions,
  config: Config,
  ports: EndingPorts,
): Promise<EndReport> {
  if (options.all === true) return endAllSessions(ports);
  const principal = selectPrincipal(options, config);
  return principal === undefined ? endByIds(ports, options.ids) : endOfPrincipal(ports, principal);
}

/** Asks only on a terminal: elsewhere `--yes` is given, or the command was refused. */
async function isAgreed(
  { yes }: SessionsRevokeOptions,
  { sessions }: OpenedSessions,
  { session }: Config,
  stdio: Stdio,
  signal: AbortSignal,
): Promise<boolean> {
  if (yes === true || !stdio.isInteractive) return yes === true;
  const progress = createProgress(process.stderr, Date.now);
  const { total = 0, sealed } = await readSessions(sessions, {
    principal: undefined,
    limit: 1,
    keyRingFile: session.keyRingFile,
    onProgress: progress.count,
    signal,
  }).finally(progress.clear);
  const count = total + sealed;
  if (count === 0) return true;
  const what = count === 1 ? 'the one session' : `all ${count.toLocaleString('en-US')} sessions`;
  return confirm(`End ${what}? Everybody has to sign in again.`, {
    input: process.stdin,
    output: process.stderr,
    signal,
  });
}

function createReporter(log: Log, isJson: boolean, stdio: Stdio): (ended: EndedSession) => void {
  const audit = createAudit(log);
  const operator = readOperator(process.env);
  return (ended) => {
    audit(auditEnded(ended, operator));
    if (!isJson) stdio.out(describeEnded(ended));
  };
}
