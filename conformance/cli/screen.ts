/**
 * A command on a terminal, and what a person sees there.
 *
 * @module
 */

import { execFileSync, spawn } from 'node:child_process';
import { COMMAND } from '../wire/command-file.ts';
import type { Home } from './command.ts';

/** A command on a terminal of its own. */
export interface OnTerminal {
  /** Presses keys, or pastes. */
  type(text: string): void;
  /** Waits until the screen shows the text; gives back the screen. */
  shows(text: string | RegExp): Promise<string>;
  /** Everything that was ever written, escapes included. */
  readonly raw: () => string;
  /** Exit code and the last screen. */
  readonly ended: Promise<{ readonly code: number | null; readonly screen: string }>;
}

const COLUMNS = 100;
const LIMIT_MS = 50_000;

/** Whether there is util-linux's `script`, which gives a command a terminal. */
export function hasTerminal(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

/** Runs the command on a terminal 100 columns wide. */
export function startOnTerminal(
  home: Home,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  columns: number = COLUMNS,
): OnTerminal {
  const quoted = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn(
    'script',
    ['-qefc', `stty cols ${columns} rows 50; exec ${quoted}`, '/dev/null'],
    {
      cwd: home.path,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...home.environment, TERM: 'xterm-256color', SHELL: '/bin/sh', ...environment },
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    },
  );
  let raw = '';
  let listeners: (() => void)[] = [];
  let hasEnded = false;
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.on('data', (chunk: Buffer) => {
    raw += chunk.toString();
    notify();
  });
  const ended = new Promise<{ code: number | null; screen: string }>((resolve) =>
    child.once('close', (code) => {
      hasEnded = true;
      resolve({ code, screen: renderScreen(raw) });
      notify();
    }),
  );
  return {
    type: (text) => void child.stdin.write(text),
    raw: () => raw,
    ended,
    shows: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const screen = renderScreen(raw);
          const isShown = typeof text === 'string' ? screen.includes(text) : text.test(screen);
          if (isShown) resolve(screen);
          else if (hasEnded) reject(new Error(`ended without showing ${text}:\n${screen}`));
          else return;
          listeners = listeners.filter((listener) => listener !== look);
        };
        listeners.push(look);
        look();
      }),
  };
}

/** The text a terminal shows after what was written: carriage returns, erased lines, no colours. */
export function renderScreen(raw: string): string {
  const lines: string[] = [''];
  let column = 0;
  // oxlint-disable-next-line no-control-regex -- what a terminal obeys
  const tokens = raw.matchAll(/\u001b\[([?\d;]*)([A-Za-z])|\r|\n|[^\u001b\r\n]+|\u001b/g);
  for (const [token, parameters, letter] of tokens) {
    const last = lines.length - 1;
    if (token === '\r') column = 0;
    else if (token === '\n') {
      lines.push('');
      column = 0;
    } else if (letter === 'K') {
      lines[last] = parameters === '2' ? '' : (lines[last] ?? '').slice(0, column);
    } else if (letter === undefined) {
      const line = (lines[last] ?? '').padEnd(column);
      lines[last] = line.slice(0, column) + token + line.slice(column + token.length);
      column += token.length;
    }
  }
  return lines.join('\n');
}
