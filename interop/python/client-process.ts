/**
 * The process of a released client: one call for each line it is sent, one answer for each call.
 *
 * @module
 */

import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** What a call of a client gave: a person, or an error. */
export interface CallAnswer {
  readonly subject?: string;
  readonly name?: string;
  readonly error?: string;
  readonly detail?: string;
}

/** A client's process, which makes one call each time it is asked to. */
export interface RunningClient {
  call(): Promise<CallAnswer>;
  /** The first address it has printed, once it has. */
  printedAddress(): Promise<string>;
  /**
   * Lets it end.
   *
   * @throws When it did not end well, or when it has printed a secret.
   */
  finish(): Promise<void>;
}

/** No client may take longer for all it does, waiting for a device code included. */
export const RUN_MS = 60_000;

/**
 * Watches over a client's process from its start to its end.
 *
 * @param secretsNow - What it must not print, asked for when it ends.
 */
export function superviseClient(
  child: ChildProcess,
  secretsNow: () => readonly string[],
): RunningClient {
  let output = '';
  const answers: CallAnswer[] = [];
  const waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS);
  let hasEnded = false;
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      hasEnded = true;
      resolve(code);
      wake();
    });
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('{')) answers.push(JSON.parse(line) as CallAnswer);
      wake();
    });

  async function until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (hasEnded) throw new Error(`the client ended before\n${output}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  }

  let called = 0;
  return {
    call() {
      const index = called;
      called += 1;
      child.stdin?.write('\n');
      return until(() => answers[index]);
    },
    printedAddress: () => until(() => /https?:\/\/\S+\?user_code=\S+/.exec(output)?.[0]),
    async finish() {
      const secrets = secretsNow();
      child.stdin?.end();
      const code = await ended;
      if (code !== 0) throw new Error(`the client ended with ${code}\n${output}`);
      const shown = [...secrets, ...secretsNow()].filter((secret) => output.includes(secret));
      if (shown.length > 0) throw new Error('the client has printed a secret');
    },
  };
}
