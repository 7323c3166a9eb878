/**
 * The scripted browser, as `--browser` takes it.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs';

const OPENER = new URL('./opener.ts', import.meta.url).pathname;

/** What the scripted browser wrote down. */
export interface Recorded {
  readonly argv?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Writes the command. With a login it fills in the form of the embedded identity provider. */
export function browserCommand(record: string, login = '', passwordFile = ''): string {
  // The command's environment does not say where compiled code is kept.
  const kept = `NODE_COMPILE_CACHE=${process.env['NODE_COMPILE_CACHE'] ?? ''}`;
  const node = [process.execPath, '--conditions=source'];
  const words = ['env', kept, ...node, OPENER, record, login, passwordFile];
  return words.map((word) => `"${word}"`).join(' ');
}

/** Reads what it wrote down so far. */
export function readRecord(record: string): readonly Recorded[] {
  if (!existsSync(record)) return [];
  return readFileSync(record, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded);
}
