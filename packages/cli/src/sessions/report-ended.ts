/**
 * Reports ended sessions: to a person, to a program, and to the audit log.
 *
 * @module
 */

import { type EndReason, formatSessionId, nameBrowser } from '@sallyport/server';
import { type AuditEvent, describeFailure, NO_REQUEST } from '@sallyport/server/observe';
import { type ExitCode, type Failure, toThrownFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { toCell } from './display-width.ts';
import type { EndedSession, EndReport } from './end-sessions.ts';
import { writeHarmlessJson } from './harmless-json.ts';
import type { Operator } from './operator.ts';
import { NO_SESSION } from './session-list.ts';
import { nameOf } from './session-row.ts';

const OVER: Readonly<Record<EndReason | 'expired', string>> = {
  signed_out: 'the person signed out',
  session_replaced: 'its browser signed in again',
  session_revoked: 'it was revoked',
  renewal_refused: 'the identity provider did not renew it',
  renewal_lost: 'its renewal was lost',
  expired: 'it expired',
};

/** What the description of a failure of our own begins with; a person reads the sentence behind it. */
const OWN_PREFIX = /\bSallyportError SP_\w+ \([^()]*\)(?:: )?/g;

/** One line about a session that was just ended. */
export function describeEnded({ id, row }: EndedSession): string {
  const about = row === undefined ? [] : [nameOf(row), row.address, nameBrowser(row.browser)];
  return ['ended', formatSessionId(id), ...about.map(toCell)]
    .filter((part) => part !== '')
    .join('  ');
}

/** The audit line of an ended session: as the server's own, and who did it. */
export function auditEnded({ id, row }: EndedSession, operator: Operator): AuditEvent {
  return {
    event: 'session_ended',
    issuer: row?.issuer,
    subject: row?.subject,
    session: id,
    ...NO_REQUEST,
    reason: 'session_revoked',
    by: 'operator',
    ...operator,
  };
}

/** Reports what became of the sessions that were not reported as ended yet. @returns The exit code. */
export function reportEnded(
  report: EndReport,
  { isJson, wasInterrupted }: { readonly isJson: boolean; readonly wasInterrupted: () => boolean },
  stdio: Stdio,
): ExitCode {
  const failure = findFailure(report, wasInterrupted());
  if (isJson) stdio.out(writeHarmlessJson(toJson(report, failure)));
  else printText(report, failure, stdio);
  return failure?.exitCode ?? EXIT.ok;
}

/**
 * Sums it up in a sentence, for a person; empty when the failure says it all.
 *
 * @param asked - What was to be ended.
 */
export function describeEnding(
  { ended, failure }: EndReport,
  asked: { readonly subject?: string; readonly all?: boolean },
): string {
  if (ended.length === 1) return '1 session ended; running servers refuse it within a second.';
  if (ended.length > 1)
    return `${ended.length.toLocaleString('en-US')} sessions ended; running servers refuse them within a second.`;
  if (failure !== undefined) return '';
  if (asked.all === true) return 'There were no sessions.';
  return asked.subject === undefined
    ? 'No session was ended.'
    : `No session was ended. ${NO_SESSION}`;
}

/** A failure with its causes, as far as they may be shown. */
export function toStoreFailure(thrown: unknown, wasInterrupted: boolean): Failure {
  const failure = toThrownFailure(thrown, wasInterrupted);
  const cause = thrown instanceof Error && failure.hint === '' ? thrown.cause : undefined;
  return cause === undefined || wasInterrupted
    ? failure
    : { ...failure, hint: `Cause: ${describeFailure(cause).replaceAll(OWN_PREFIX, '')}` };
}

function findFailure(report: EndReport, wasInterrupted: boolean): Failure | undefined {
  if (report.failure !== undefined) return toStoreFailure(report.failure, wasInterrupted);
  if (report.unknown.length === 0) return undefined;
  const ids = format(report.unknown).join(', ');
  return {
    error: 'session_unknown',
    description: `there is no such session: ${ids}`,
    hint: '"sallyport sessions list" shows those there are.',
    exitCode: EXIT.failure,
  };
}

function printText(report: EndReport, failure: Failure | undefined, stdio: Stdio): void {
  for (const { id, reason } of report.over)
    stdio.error(`${formatSessionId(id)} has ended already: ${OVER[reason]}.`);
  if (failure !== undefined) {
    stdio.error(`sallyport: ${failure.description}`);
    if (failure.hint !== '') stdio.error(`  ${failure.hint}`);
  }
  if (report.unclear.length > 0)
    stdio.error(`  It is not known whether these have ended: ${format(report.unclear).join(', ')}`);
  if (report.untouched.length > 0)
    stdio.error(`  These were not touched: ${format(report.untouched).join(', ')}`);
  if (report.unclear.length > 0)
    stdio.error('  Run the command again: a session that has ended is left as it is.');
}

function toJson(report: EndReport, failure: Failure | undefined): unknown {
  return {
    ok: failure === undefined,
    ended: report.ended.map(({ id, row }) => ({
      id: formatSessionId(id),
      issuer: row?.issuer ?? null,
      subject: row?.subject ?? null,
    })),
    already_ended: report.over.map(({ id, reason }) => ({ id: formatSessionId(id), reason })),
    unknown: format(report.unknown),
    unclear: format(report.unclear),
    untouched: format(report.untouched),
    ...(failure === undefined
      ? {}
      : { error: failure.error, description: failure.description, hint: failure.hint }),
  };
}

function format(ids: readonly number[]): readonly string[] {
  return ids.map(formatSessionId);
}
