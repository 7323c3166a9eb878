/**
 * Signatures of one IdP's id_tokens and signed userinfo, by its metadata and its key cache.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { Schedule } from '../../time/schedule.ts';
import type { IssuerKeys } from '../keys/issuer-keys.ts';
import type { FollowedMetadata } from '../metadata/issuer-metadata.ts';
import {
  findIssuedSignatureProblem,
  type IssuedSignatureProblem,
  selectIdTokenAlgorithms,
} from './id-token-signature.ts';

/** Ports of {@link createIdpSignatures}. */
export interface IdpSignaturesOptions {
  readonly issuer: string;
  readonly metadata: FollowedMetadata;
  readonly keys: IssuerKeys;
  readonly schedule: Schedule;
}

/** The library verifies the claims of what an IdP signs and no signature: keys are fetched in one place only. */
export interface IdpSignatures {
  /** What is wrong with an id_token's signature. Waits up to `patienceMs` until the IdP may be asked for a new key. */
  findProblem(idToken: string, patienceMs?: number): Promise<IssuedSignatureProblem | undefined>;
  /**
   * Verifies the signature of an answer of the type `application/jwt`, and reads no other: userinfo may come
   * signed (OIDC Core section 5.3.2).
   *
   * @throws {SallyportError} `SP_IDP_UNREACHABLE` when the key could not be fetched.
   * @throws {Error} With the failed check as its `code`.
   */
  verifyAnswer(response: Response): Promise<void>;
}

/** Creates it. */
export function createIdpSignatures({
  issuer,
  metadata,
  keys,
  schedule,
}: IdpSignaturesOptions): IdpSignatures {
  return {
    findProblem(idToken, patienceMs = 0) {
      const algorithms = selectIdTokenAlgorithms(metadata.current ?? { issuer });
      return findIssuedSignatureProblem(idToken, { algorithms, keys, schedule, patienceMs });
    },

    async verifyAnswer(response) {
      const type = response.headers.get('content-type') ?? '';
      if (!/^application\/jwt *(?:;|$)/i.test(type)) return;
      const token = await response.clone().text();
      const algorithms = metadata.current?.userinfo_signing_alg_values_supported ?? [];
      const signed = { algorithms, keys, schedule, patienceMs: 0 };
      const problem = await findIssuedSignatureProblem(token, signed);
      if (isUndecided(problem)) throw keyUnavailable();
      if (problem !== undefined) throw new UnverifiedAnswer(problem);
    },
  };
}

/** Whether the key was missing: nothing is known about the signature then. */
export function isUndecided(problem: IssuedSignatureProblem | undefined): boolean {
  return problem === 'key_unavailable' || problem === 'key_pending';
}

/** The failure for an undecided signature. */
export function keyUnavailable(): SallyportError {
  return new SallyportError('SP_IDP_UNREACHABLE', {
    component: 'idp',
    detail: 'the key that signed could not be fetched, or not yet once more',
    retryAfterSeconds: 5,
  });
}

/** An answer whose signature does not count. */
class UnverifiedAnswer extends Error {
  readonly code: string;

  constructor(problem: string) {
    super(problem);
    this.code = problem;
  }
}
