/**
 * How the commands of a person end: what went wrong, as a sentence or as JSON, and the exit code.
 *
 * @module
 */

import type { TokenRefusal } from '@sallyport/client';
import { findNetworkCause } from './network-cause.ts';
import { EXIT, type Stdio } from './stdio.ts';

/** An exit code of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What went wrong, safe to show. */
export interface Failure {
  /** Stable identifier: an OAuth error code, one of ours, or an `SP_…` code. */
  readonly error: string;
  /** One sentence. */
  readonly description: string;
  /** What to do about it; empty when there is nothing to say. */
  readonly hint: string;
  readonly exitCode: ExitCode;
}

/** A person has to sign in, and this command cannot ask one to. */
const LOGIN_ERRORS = new Set(['login_required', 'invalid_grant']);
const UNREACHABLE_CODES = new Set(['SP_IDP_UNREACHABLE', 'SP_PLATFORM_UNREACHABLE']);

/** Says what went wrong: JSON on stdout, since it is what a program reads; sentences on stderr. */
export function reportFailure(failure: Failure, isJson: boolean, stdio: Stdio): ExitCode {
  const { error, description, hint, exitCode } = failure;
  if (isJson) {
    const answer = { ok: false, error, description, ...(hint === '' ? {} : { hint }) };
    stdio.out(stdio.cleanse(JSON.stringify(answer)));
  } else {
    stdio.error(`sallyport: ${description}`);
    if (hint !== '') stdio.error(`  ${hint}`);
  }
  return exitCode;
}

/**
 * One line that says why no person can sign in here, which command signs in, and what to set for a program.
 *
 * @param why - Completes "…: why".
 * @param command - That signs a person in.
 */
export function loginRequiredFailure(
  why: string,
  endpoint: string,
  command: string = 'sallyport login',
): Failure {
  return {
    error: 'login_required',
    description: `${endpoint}: ${why}. Run "${command}" on a terminal, or set CORE_CREDENTIALS_CLIENT_ID and CORE_CREDENTIALS_CLIENT_SECRET, or EAGER_API_KEY.`,
    hint: '',
    exitCode: EXIT.loginNeeded,
  };
}

/** Puts a refusal to give tokens into the words and codes of the command line. */
export function toFailure({ error, description, hint }: TokenRefusal): Failure {
  if (error === 'login_cancelled')
    return { error, description: 'interrupted', hint: '', exitCode: EXIT.interrupted };
  const exitCode = LOGIN_ERRORS.has(error) ? EXIT.loginNeeded : EXIT.failure;
  return { error, description, hint, exitCode };
}

/** Says with which command a person signs in, where that is what is needed. */
export function adviseLogin(failure: Failure, command: string): Failure {
  return failure.exitCode === EXIT.loginNeeded
    ? { ...failure, hint: `Sign in: ${command}` }
    : failure;
}

/**
 * Puts what was thrown into the words and codes of the command line. Of an unexpected failure only class and
 * message are shown, no stack.
 *
 * @param wasInterrupted - Whether the person had asked for the end; then that is what happened.
 */
export function toThrownFailure(thrown: unknown, wasInterrupted: boolean): Failure {
  if (wasInterrupted)
    return {
      error: 'interrupted',
      description: 'interrupted',
      hint: '',
      exitCode: EXIT.interrupted,
    };
  if (thrown instanceof Error && thrown.name === 'TokenRefusedError' && 'refusal' in thrown)
    return toFailure(thrown.refusal as TokenRefusal);
  if (thrown instanceof Error && thrown.name === 'SallyportError' && 'code' in thrown) {
    const error = String(thrown.code);
    const exitCode = UNREACHABLE_CODES.has(error) ? EXIT.unreachable : EXIT.failure;
    const cause = exitCode === EXIT.unreachable ? findNetworkCause(thrown) : undefined;
    const why = cause === undefined ? '' : `: ${cause.why}`;
    const description = describe(thrown, error, why);
    return { error, description, hint: cause?.hint ?? '', exitCode };
  }
  const description = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : 'failed';
  return { error: 'internal', description, hint: '', exitCode: EXIT.failure };
}

/** The sentence of a failure, why, and the code last: a person reads the sentence. */
function describe({ message }: Error, code: string, why: string): string {
  const sentence = message.replace(/^\w+ \([\w:.-]*\)(?:: )?/, '');
  return sentence === '' ? code : `${sentence}${why} (${code})`;
}
