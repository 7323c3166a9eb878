/**
 * RSA key pairs for tests: making one takes a tenth of a second, so the files of a worker use the same ones.
 *
 * @module
 */

import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/** A private key and its public half. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

interface Made {
  readonly pairs: KeyPair[];
  /** How many of them the running test file has been given. */
  given: number;
}

/** On the global object: a test file and the set-up file of its project may hold two copies of this module. */
const MADE = Symbol.for('sallyport.testing.rsa-keys');

/** A pair of 2,048 bits, another one at each call of a test file. */
export function nextRsaKeys(): KeyPair {
  const made = madeKeys();
  const pair = made.pairs[made.given] ?? generateKeyPairSync('rsa', { modulusLength: 2_048 });
  made.pairs[made.given] = pair;
  made.given += 1;
  return pair;
}

/** Begins with the first pair again. Called before each test file. */
export function reuseRsaKeys(): void {
  madeKeys().given = 0;
}

function madeKeys(): Made {
  const kept: { [MADE]?: Made } = globalThis as object;
  kept[MADE] ??= { pairs: [], given: 0 };
  return kept[MADE];
}
