/**
 * Failures of the local store.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';

/** The file cannot be read, or cannot be written at present. */
export function storeUnavailable(detail: string, cause: unknown): SallyportError {
  return new SallyportError('SP_STORE_UNAVAILABLE', {
    component: 'store:local',
    detail,
    cause,
    retryAfterSeconds: 1,
  });
}
