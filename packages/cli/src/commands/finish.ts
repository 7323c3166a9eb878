/**
 * The end of an operator's command.
 *
 * @module
 */

import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Ends the process with the command's code, or with what went wrong in one line. */
export async function finish(command: Promise<number>, stdio: Stdio): Promise<void> {
  try {
    process.exitCode = await command;
  } catch (error) {
    const { describeFailure } = await import('@sallyport/server/observe');
    const isFailure = error instanceof Error && error.name === 'SallyportError';
    stdio.error(`sallyport: ${isFailure ? error.message : describeFailure(error)}`);
    process.exitCode = EXIT.failure;
  }
}
