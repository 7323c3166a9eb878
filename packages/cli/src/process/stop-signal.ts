/**
 * Waits for SIGINT or SIGTERM.
 *
 * @module
 */

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, as the shell expects. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // The one that ended the process while the command was being loaded (bin/sallyport.js).
      process.removeAllListeners(signal);
      process.once(signal, () => resolve(signal));
    }
  });
}
