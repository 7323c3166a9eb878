/**
 * Callbacks of the program that uses this package.
 *
 * @module
 */

/**
 * Keeps a callback's failure away from the work that calls it: an observer decides nothing. The first throw, or
 * rejection of a promise that it returns, is a warning of the process, which names the callback and holds nothing
 * of the error: its words could quote a token.
 *
 * @param name - The option's name, as `onOutage`.
 * @returns Never throws; does nothing where there is no callback.
 */
export function guardCallback<T>(
  name: string,
  callback: ((value: T) => unknown) | undefined,
): (value: T) => void {
  let isReported = false;
  const report = (): void => {
    if (isReported) return;
    isReported = true;
    process.emitWarning(`the callback ${name} failed; its failures are ignored`, {
      code: 'SALLYPORT_CALLBACK_FAILED',
    });
  };
  return (value) => {
    try {
      const outcome = callback?.(value);
      if (outcome instanceof Promise) outcome.catch(report);
    } catch {
      report();
    }
  };
}
