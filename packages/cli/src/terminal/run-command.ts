/**
 * The boundary of a person's command: what it throws becomes a sentence and an exit code.
 *
 * @module
 */

import { type Interruption, listenForInterruption } from '../process/interruption.ts';
import { type ExitCode, reportFailure, toThrownFailure } from './report.ts';
import type { Stdio } from './stdio.ts';

/** Runs a command to its end. Nothing is thrown. */
export async function runCommand(
  command: (interruption: Interruption) => Promise<ExitCode>,
  isJson: boolean,
  stdio: Stdio,
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  try {
    return await command(interruption);
  } catch (error) {
    return reportFailure(toThrownFailure(error, interruption.signal.aborted), isJson, stdio);
  } finally {
    interruption.release();
  }
}
