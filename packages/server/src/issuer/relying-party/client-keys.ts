/**
 * The web app's key as it is now, and the public keys that verify what it has signed.
 *
 * @module
 */

import type { ClientKey, PublicClientKey } from './client-key.ts';

/** The key of the web app, which follows its file. */
export interface ClientKeys {
  /** The key to sign with now. The caller MUST ask each time. */
  current(): ClientKey;
  /** The public keys of the file, and those it had within five minutes before. */
  published(): readonly PublicClientKey[];
}

/** How long a fetched answer of the published keys may be kept, in seconds. */
export const KEYS_MAX_AGE_SECONDS = 300;

/**
 * Creates the keys.
 *
 * A replaced key stays published for as long as an answer may be kept: an assertion signed with it may
 * be under way, and another replica may read its file a moment later (OpenID Connect Core 1.0 section
 * 10.1.1). That it was replaced is seen at the next use.
 *
 * @param read - Gives the key of the file, the same object as long as it is the same key.
 */
export function createClientKeys(read: () => ClientKey, now: () => number): ClientKeys {
  let latest = read();
  let former: readonly { readonly key: PublicClientKey; readonly until: number }[] = [];

  return {
    current,
    published() {
      const { published } = current();
      former = former.filter(
        ({ key, until }) => until > now() && published.every(({ kid }) => kid !== key.kid),
      );
      return [...published, ...former.map(({ key }) => key)];
    },
  };

  function current(): ClientKey {
    const key = read();
    if (key !== latest) {
      const until = now() + KEYS_MAX_AGE_SECONDS * 1_000;
      former = [...former, { key: latest.publicKey, until }];
      latest = key;
    }
    return key;
  }
}
