/**
 * The person's side of a sign-in on the process's own streams.
 *
 * @module
 */

import type { Interruption } from '../process/interruption.ts';
import type { Environment } from '../profile/sources.ts';
import { readKeyboard } from '../terminal/keyboard.ts';
import { drawQrCode } from '../terminal/qr-code.ts';
import type { Stdio } from '../terminal/stdio.ts';
import { type LineOutput, startWaiting } from '../terminal/waiting-line.ts';
import { type BrowserCommand, openBrowser, selectBrowserCommand } from './browser.ts';
import type { SignInPorts } from './sign-in.ts';

/** What the command line says about showing things. */
export interface TerminalOptions {
  /** From `--browser`. */
  readonly browser: BrowserCommand | undefined;
  /** Draws QR codes; on a terminal only, since a log would keep them. */
  readonly isQrWanted: boolean;
}

/** Narrower terminals get no QR code unless the code fits anyway. */
const COLUMNS = 80;

/** Connects a sign-in with the terminal, or with plain lines on stderr where there is none. */
export function createTerminal(
  { browser, isQrWanted }: TerminalOptions,
  environment: Environment,
  stdio: Stdio,
  interruption: Interruption,
): SignInPorts {
  const command = selectBrowserCommand(browser, environment);
  return {
    say: stdio.error,
    openBrowser: (url) => openBrowser(url, command, environment),
    wait: (text) => startWaiting(lineOutput(environment), text),
    ...(stdio.isInteractive
      ? { keyboard: (listeners) => readKeyboard(process.stdin, listeners) }
      : {}),
    qrCode: (url) =>
      isQrWanted && stdio.isInteractive
        ? drawQrCode(url, process.stderr.columns ?? COLUMNS)
        : undefined,
    schedule(afterMs, callback) {
      const timer = setTimeout(callback, afterMs);
      return () => clearTimeout(timer);
    },
    interrupt: interruption.interrupt,
  };
}

/** A terminal that knows no cursor movements, as in an editor, gets plain lines. */
function lineOutput({ TERM }: Environment): LineOutput {
  return TERM === 'dumb' ? { write: (text) => process.stderr.write(text) } : process.stderr;
}
