/**
 * Questions that a person answers with a line each.
 *
 * @module
 */

import { createInterface } from 'node:readline';
import type { ConfirmationPorts } from './confirmation.ts';

/** A question; `fallback` is the answer of an empty line. */
export interface Question {
  readonly text: string;
  readonly fallback?: string;
}

/**
 * Asks one after the other. An empty line without a fallback asks again.
 *
 * @returns The answers, trimmed; fewer than questions when the input ends.
 * @throws The signal's reason when it is aborted.
 */
export async function ask(
  questions: readonly Question[],
  { input, output, signal }: ConfirmationPorts,
): Promise<readonly string[]> {
  // Without line editing of our own the terminal itself makes a signal of Ctrl-C.
  const lines = createInterface({ input, terminal: false });
  const answers: string[] = [];
  const stop = (): void => lines.close();
  signal.addEventListener('abort', stop, { once: true });
  const prompt = (): void => {
    const { text, fallback } = questions[answers.length] ?? { text: '' };
    output.write(fallback === undefined ? `${text}: ` : `${text} [${fallback}]: `);
  };
  try {
    if (questions.length > 0) prompt();
    if (questions.length > 0)
      for await (const line of lines) {
        const answer = line.trim() || questions[answers.length]?.fallback;
        if (answer !== undefined) answers.push(answer);
        if (answers.length === questions.length) break;
        prompt();
      }
  } finally {
    signal.removeEventListener('abort', stop);
    lines.close();
  }
  // No Enter ended the line.
  if (answers.length < questions.length) output.write('\n');
  signal.throwIfAborted();
  return answers;
}
