/**
 * Where tokens are kept between runs.
 *
 * @module
 */

import type { TokenSet } from './token-set.ts';

/** What a token belongs to. Two of these never share a token. */
export interface TokenKey {
  readonly issuer: string;
  /** Where they came from, and where alone a refresh token goes. */
  readonly tokenEndpoint: string;
  /** Origin of the platform. */
  readonly endpoint: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly audience: string;
}

/** Keeps token sets. Every adapter passes one contract suite. */
export interface TokenStore {
  readonly kind: 'keyring' | 'file' | 'memory';
  /** `undefined` when there is none, or none that can be read back as one. */
  read(key: TokenKey): Promise<TokenSet | undefined>;
  /** Replaces what was kept, completely or not at all. */
  write(key: TokenKey, tokens: TokenSet): Promise<void>;
  remove(key: TokenKey): Promise<void>;
}
