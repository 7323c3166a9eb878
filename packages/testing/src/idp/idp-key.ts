/**
 * The key of the fake IdP in unit tests: made once in a process, because that takes a tenth of a second.
 *
 * @module
 */

import type { JWK } from 'jose';
import { createSigningKey, type SigningKey } from './forge.ts';

/** The key whose public half the IdP publishes. */
export const IDP_KEY: SigningKey = createSigningKey('RS256', 'idp-key');

/** Its private half, as {@link file://./fake-idp.ts} takes it. */
export const IDP_JWK: JWK = { ...IDP_KEY.privateKey.export({ format: 'jwk' }), kid: IDP_KEY.kid };
