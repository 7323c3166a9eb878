/**
 * Waiting until somebody wants the process to end.
 *
 * @module
 */

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, as the shell expects. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => resolve(signal));
  });
}
