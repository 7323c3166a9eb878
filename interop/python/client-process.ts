/**
 * The process of a released client: one call for each line it is sent, one answer for each call.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** A process, however it was started. */
export interface ClientProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The file its stderr goes to. */
  readonly errors: string;
  /** Its exit code, once it and all that it started have closed its stdout. */
  readonly ended: Promise<number>;
  kill(): void;
}

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
  child: ClientProcess,
  secretsNow: () => readonly string[],
): RunningClient {
  let output = '';
  const answers: CallAnswer[] = [];
  const waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  const timer = setTimeout(() => child.kill(), RUN_MS);
  let hasEnded = false;
  const ended = child.ended.then((code) => {
    clearTimeout(timer);
    hasEnded = true;
    if (existsSync(child.errors)) output += readFileSync(child.errors, 'utf8');
    wake();
    return code;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
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
      child.stdin.write('\n');
      return until(() => answers[index]);
    },
    printedAddress: () => until(() => /https?:\/\/\S+\?user_code=\S+/.exec(output)?.[0]),
    async finish() {
      const secrets = secretsNow();
      child.stdin.end();
      const code = await ended;
      if (code !== 0) throw new Error(`the client ended with ${code}\n${output}`);
      const shown = [...secrets, ...secretsNow()].filter((secret) => output.includes(secret));
      if (shown.length > 0) throw new Error('the client has printed a secret');
    },
  };
}
