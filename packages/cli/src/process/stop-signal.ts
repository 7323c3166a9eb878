/**
 * Waits for SIGINT or SIGTERM.
 *
 * @module
 */

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, as the shell expects. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // Those that ended the process while the command was being loaded (bin/sallyport.js). Removed last: without
      // any listener the runtime would drop a signal that has arrived and is not dispatched yet.
      const before = process.listeners(signal);
      process.once(signal, () => resolve(signal));
      for (const listener of before) process.off(signal, listener);
    }
  });
}
