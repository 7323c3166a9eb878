/**
 * What a test waits for instead of a time.
 *
 * @module
 */

/** A promise and the function that settles it. */
export function signal<T = void>(): {
  readonly seen: Promise<T>;
  readonly set: (value: T) => void;
} {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { seen: promise, set: resolve };
}
