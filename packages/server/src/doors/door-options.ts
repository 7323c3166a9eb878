/**
 * What every door of the application layer is made from.
 *
 * @module
 */

import type { Check } from '../verdict/check.ts';

/** The one question, and where a person goes to be able to answer it. */
export interface DoorOptions {
  readonly check: Check;
  /** Origin of `publicUrl`: where `/login` is; never taken from a request. */
  readonly publicOrigin: string;
}
