/**
 * Token keys and token sets for tests.
 *
 * @module
 */

import type { TokenSet } from '../../../client/src/token-set.ts';
import type { TokenKey } from '../../../client/src/token-store.ts';
import { NOON } from '../time/clock.ts';

/** A key; another one for each override. */
export const KEY: TokenKey = {
  issuer: 'https://idp.example',
  tokenEndpoint: 'https://idp.example/token',
  endpoint: 'https://flow.example',
  clientId: 'native',
  scopes: ['all', 'offline_access'],
  audience: 'https://flow.example',
};

/** An hour. */
export const HOUR = 3_600_000;

/** Builds tokens obtained at noon that live for an hour. */
export function createTokens(name: string, more: Partial<TokenSet> = {}): TokenSet {
  return {
    accessToken: `access-${name}`,
    expiresAt: NOON + HOUR,
    obtainedAt: NOON,
    refreshToken: `refresh-${name}`,
    scopes: ['all'],
    ...more,
  };
}
