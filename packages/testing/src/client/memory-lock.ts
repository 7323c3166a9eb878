/**
 * A lock for processes that are only modelled.
 *
 * @module
 */

import type { LockLease, TokenLock } from '../../../client/src/lock/token-lock.ts';

/** Hands the lock on in the order it was asked for. */
export function createMemoryLock(): TokenLock {
  let last: Promise<void> = Promise.resolve();
  return {
    async acquire(): Promise<LockLease> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = last;
      last = promise;
      await before;
      let isReleased = false;
      return {
        isHeld: () => !isReleased,
        release() {
          isReleased = true;
          resolve();
        },
      };
    },
  };
}
