/**
 * Which source is stronger.
 *
 * @module
 */

import type { Origin } from '@sallyport/config';

const ORDER: readonly Origin[] = ['default', 'file', 'env', 'flag'];

/** Whether one source wins over another: flag, then environment, then file, then default. */
export function isStronger(one: Origin, other: Origin): boolean {
  return ORDER.indexOf(one) > ORDER.indexOf(other);
}
