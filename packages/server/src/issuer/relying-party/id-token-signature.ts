/**
 * The signatures of what the IdP gives to this client itself: id_tokens, and userinfo where that is signed.
 *
 * @module
 */

import type { Schedule } from '../../time/schedule.ts';
import { parseJwt } from '../jwt/jwt.ts';
import { verifyIssuedSignature } from '../jwt/jwt-signature.ts';
import { isSignatureAlgorithm } from '../jwt/signature.ts';
import type { IssuerKeys } from '../keys/issuer-keys.ts';
import type { IssuerDocument } from '../metadata/authorization-server-document.ts';

/** Longest id_token, in characters: some list hundreds of groups. */
const ID_TOKEN_MAX_LENGTH = 65_536;
/** What an IdP signs id_tokens with that does not say (OIDC Core 1.0 section 2). */
const DEFAULT_ALGORITHMS: readonly string[] = ['RS256'];

/**
 * Why a signature does not count: what is wrong with the token, or that its key could not be fetched
 * (`key_unavailable`), or not yet once more (`key_pending`).
 */
export type IssuedSignatureProblem =
  | 'id_token form'
  | 'alg'
  | 'unknown_key'
  | 'signature'
  | 'key_unavailable'
  | 'key_pending';

/** What else signatures of the IdP are verified with. */
export interface IssuedSignatureOptions {
  readonly algorithms: readonly string[];
  readonly keys: IssuerKeys;
  readonly schedule: Schedule;
  /** Milliseconds that may be waited until the IdP may be asked for its keys once more. */
  readonly patienceMs: number;
}

/** Algorithms that the IdP offers for id_tokens. Not all can be verified with: see `isSignatureAlgorithm`. */
export function selectIdTokenAlgorithms({
  id_token_signing_alg_values_supported: offered = DEFAULT_ALGORITHMS,
}: IssuerDocument): readonly string[] {
  return offered;
}

/**
 * Verifies the signature of a token that the IdP has just given, with the keys that it publishes.
 *
 * The form of the token is as strict as that of every other token; claims are not looked at.
 *
 * @returns What is wrong, or `undefined`. Never rejects for a token, nor for an IdP that is down.
 *
 * @see [OIDC Core 1.0 section 3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation) steps 6 and 7
 */
export async function findIssuedSignatureProblem(
  token: string,
  { algorithms, keys, schedule, patienceMs }: IssuedSignatureOptions,
): Promise<IssuedSignatureProblem | undefined> {
  const parsed = parseJwt(token, ID_TOKEN_MAX_LENGTH);
  if (!parsed.ok) return 'id_token form';
  const { algorithm } = parsed.value;
  if (!isSignatureAlgorithm(algorithm) || !algorithms.includes(algorithm)) return 'alg';
  const result = await verifyIssuedSignature(keys, parsed.value, schedule, patienceMs);
  switch (result) {
    case 'verified':
      return undefined;
    case 'undecided':
      return 'key_unavailable';
    case 'pending':
      return 'key_pending';
    case 'unknown_key':
    case 'signature':
      return result;
  }
}
