/**
 * What must not be left behind when the process ends.
 *
 * @module
 */

const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Marks the listeners of this module, in whichever copy of it. */
const MARK: unique symbol = Symbol.for('sallyport.release-at-exit') as never;

/**
 * Calls `release` when the process exits or a signal ends it, unless it is taken back before.
 *
 * A signal that the program itself listens to does not end the process, and is left to the program.
 * Without such a listener the signal does what it does by default, after `release`.
 *
 * @param release - Synchronous; called once.
 *
 * @returns Takes it back.
 */
export function releaseAtExit(release: () => void): () => void {
  const onSignal = Object.assign(
    (signal: NodeJS.Signals): void => {
      if (!process.listeners(signal).every(isOurs)) return;
      takeBack();
      release();
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    },
    { [MARK]: true },
  );
  const onExit = (): void => {
    takeBack();
    release();
  };
  process.on('exit', onExit);
  for (const signal of ENDING_SIGNALS) process.on(signal, onSignal);
  return takeBack;

  function takeBack(): void {
    process.off('exit', onExit);
    for (const signal of ENDING_SIGNALS) process.off(signal, onSignal);
  }
}

function isOurs(listener: object): boolean {
  return MARK in listener;
}
