/**
 * Signing in without a page, for demonstrations and tests. Loaded only when it is asked for.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { SeededUser } from './users.ts';

/**
 * Creates the choice that answers every sign-in with one seeded user.
 *
 * Every person who reaches the IdP is that user: for an IdP on loopback only.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when there is no such user.
 */
export function createAutomaticSignIn(
  users: readonly SeededUser[],
  login: string,
): () => SeededUser {
  const user = users.find((candidate) => candidate.login === login);
  if (user !== undefined) return () => user;
  throw new SallyportError('SP_CONFIG_INVALID', {
    component: 'idp',
    detail: `there is no user of that name; the seeded users are ${users.map((known) => known.login).join(' and ')}`,
  });
}
