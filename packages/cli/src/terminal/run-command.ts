/**
 * The boundary of a person's command: what it throws becomes a sentence and an exit code.
 *
 * @module
 */

import { type Interruption, listenForInterruption } from '../process/interruption.ts';
import { type ExitCode, reportFailure, toThrownFailure } from './report.ts';
import type { Stdio } from './stdio.ts';
import { wrapTalk } from './wrap-line.ts';

/**
 * Runs a command to its end. Nothing is thrown.
 *
 * @param command - Gets the streams, whose talk is broken at the width of the terminal.
 */
export async function runCommand(
  command: (talk: Stdio, interruption: Interruption) => Promise<ExitCode>,
  isJson: boolean,
  stdio: Stdio,
): Promise<ExitCode> {
  const talk: Stdio = { ...stdio, error: wrapTalk(stdio.error, process.stderr) };
  const interruption = listenForInterruption();
  try {
    return await command(talk, interruption);
  } catch (error) {
    return reportFailure(toThrownFailure(error, interruption.signal.aborted), isJson, talk);
  } finally {
    interruption.release();
  }
}
