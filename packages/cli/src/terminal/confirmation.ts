/**
 * A question that a person answers with yes or no.
 *
 * @module
 */

import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Where it is asked. */
export interface ConfirmationPorts {
  readonly input: Readable;
  readonly output: { write(text: string): unknown };
  /** Gives up waiting. */
  readonly signal: AbortSignal;
}

/**
 * Asks. Anything but `y` or `yes` is no, the end of the input too.
 *
 * @throws The signal's reason when it is aborted.
 */
export async function confirm(
  question: string,
  { input, output, signal }: ConfirmationPorts,
): Promise<boolean> {
  // Without line editing of our own the terminal itself makes a signal of Ctrl-C.
  const lines = createInterface({ input, terminal: false });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const giveUp = (): void => resolve(undefined);
  lines.once('line', resolve);
  lines.once('close', giveUp);
  signal.addEventListener('abort', giveUp, { once: true });
  output.write(`${question} [y/N] `);
  const answer = await promise;
  signal.removeEventListener('abort', giveUp);
  lines.close();
  // No Enter ended the line.
  if (answer === undefined) output.write('\n');
  signal.throwIfAborted();
  return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
}
