/**
 * Whether a command may change something at an identity provider.
 *
 * @module
 */

import { confirm } from '../terminal/confirmation.ts';
import type { Failure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/**
 * Asks on a terminal. Elsewhere, and with `--json`, `--yes` has to be given.
 *
 * @returns Why it may not; undefined when it may.
 */
export async function mayChange(
  question: string,
  { yes = false, json = false }: { readonly yes?: boolean; readonly json?: boolean },
  stdio: Stdio,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  if (yes) return undefined;
  if (json || !stdio.isInteractive)
    return {
      error: 'not_confirmed',
      description: 'nothing was changed: there is no terminal to ask on',
      hint: 'Read the plan, then give --yes.',
      exitCode: EXIT.usage,
    };
  const ports = { input: process.stdin, output: process.stderr, signal };
  if (await confirm(question, ports)) return undefined;
  return {
    error: 'not_confirmed',
    description: 'nothing was changed.',
    hint: '',
    exitCode: EXIT.failure,
  };
}

/** Why a plan is not carried out. */
export function notPossible(verb: 'changed' | 'removed', reasons: readonly string[]): Failure {
  return {
    error: 'not_possible',
    description: `nothing was ${verb}: ${reasons.join('; ')}`,
    hint: '',
    exitCode: EXIT.failure,
  };
}
