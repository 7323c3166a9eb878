/**
 * The key of the fake IdP in unit tests: made once in a process, because that takes a tenth of a second.
 *
 * @module
 */

import { generateKeyPairSync } from 'node:crypto';
import type { JWK } from 'jose';
import { type SigningKey, toSigningKey } from './forge.ts';

/** The key whose public half the IdP publishes; none of those that a test file is given. */
export const IDP_KEY: SigningKey = toSigningKey(
  'RS256',
  'idp-key',
  generateKeyPairSync('rsa', { modulusLength: 2_048 }),
);

/** Its private half, as {@link file://./fake-idp.ts} takes it. */
export const IDP_JWK: JWK = { ...IDP_KEY.privateKey.export({ format: 'jwk' }), kid: IDP_KEY.kid };
