/**
 * A grant that is made when it is first used.
 *
 * @module
 */

import type { Grant, GrantKind } from '@sallyport/client';

/** Wraps a grant of a person that has to be asked for first. It refreshes nothing: the client does. */
export function createLazyGrant(kind: GrantKind, grant: () => Promise<Grant>): Grant {
  return {
    kind,
    isInteractive: true,
    obtain: async (options) => (await grant()).obtain(options),
  };
}
