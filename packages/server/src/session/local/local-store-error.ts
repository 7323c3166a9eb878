/**
 * How the local store tells its own failures.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';

/** Nobody can tell what the file holds, or it cannot be written just now. */
export function storeUnavailable(detail: string, cause: unknown): SallyportError {
  return new SallyportError('SP_STORE_UNAVAILABLE', {
    component: 'store:local',
    detail,
    cause,
    retryAfterSeconds: 1,
  });
}
