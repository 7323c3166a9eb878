/**
 * Ctrl-C, SIGTERM and SIGHUP as an `AbortSignal`.
 *
 * @module
 */

/** Ends a command by its own cleanup, so that nothing is left behind. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** For a Ctrl-C that was read as a key. */
  readonly interrupt: () => void;
  /** Gives the signals back to the system. */
  release(): void;
}

/** Time a command has for ending by itself, in milliseconds. */
const GRACE_MS = 3_000;
const EXIT_CODE = 130;

/** Listens. A second signal, or three seconds without an end, ends the process at once. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_CODE);
    controller.abort(new Error('interrupted'));
    setTimeout(() => process.exit(EXIT_CODE), GRACE_MS).unref();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  return {
    signal: controller.signal,
    interrupt,
    release() {
      for (const signal of signals) process.off(signal, interrupt);
    },
  };
}
