/**
 * Requests as a platform with many people and programs makes them: 70 % by cookie, 20 % by JWT, 10 % refused.
 *
 * @module
 */

import { BEARER_HEADER } from '../servers/sallyport.ts';
import { bearer } from '../servers/tokens.ts';
import type { Sample } from './candidate.ts';
import type { OneHeader } from './scripts.ts';

/** People, each with a session and a token. */
export const USERS = 1_000;
/** Ten requests: seven by cookie, two by token, one by none. */
const PATTERN = 'ccbccrcbcc';
/** Requests of a turn, after which it begins again. */
const TURN = 10 * USERS;
/** Steps through the people in an order in which the same person does not come again soon. */
const STRIDE = 617;

/** One of each kind, with its share. */
export function mixSamples(
  cookies: readonly string[],
  tokens: readonly string[],
  status: number,
): readonly Sample[] {
  return [
    { headers: { cookie: cookies[0] ?? '' }, status, share: 0.7 },
    { headers: bearer(tokens[0] ?? ''), status, share: 0.2 },
    { headers: {}, status: 401, share: 0.1 },
  ];
}

/** The requests of a turn. */
export function mixRequests(
  cookies: readonly string[],
  tokens: readonly string[],
): readonly OneHeader[] {
  return Array.from({ length: TURN }, (_, n): OneHeader => {
    const person = (n * STRIDE) % USERS;
    switch (PATTERN[n % PATTERN.length] ?? '') {
      case 'c':
        return ['cookie', cookies[person % cookies.length] ?? ''];
      case 'b':
        return [BEARER_HEADER, `Bearer ${tokens[person]}`];
      default:
        return undefined;
    }
  });
}
