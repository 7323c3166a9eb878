/**
 * Where the API key of task pods stands: the environment variable in the pod, and the Kubernetes Secret with
 * its key.
 *
 * @module
 */

import { accept, type Result, refuse } from './result.ts';

/**
 * The environment variable of a pod that holds the API key (requirement, "What the service does", row 6). It
 * is no setting: released clients read this name and no other.
 */
export const API_KEY_VARIABLE = 'EAGER_API_KEY';

/** The variable that clients read before {@link API_KEY_VARIABLE}. */
export const STRONGER_API_KEY_VARIABLE = '_UNION_EAGER_API_KEY';

/** A key of a Kubernetes Secret. */
export interface ApiKeySecret {
  /** Name of the Secret, a DNS-1123 subdomain. */
  readonly name: string;
  /** Key in the Secret that holds the API key. */
  readonly key: string;
}

/** Why a `secretName` gives no key of a Secret. */
export type ApiKeySecretRefusal = 'secret_name_not_legal' | 'secret_key_not_legal';

const SUBDOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const SECRET_KEY = /^(?!\.\.?$)(?!\.\.)[A-Za-z0-9._-]+$/;
const MAX_LENGTH = 253;

/**
 * Finds the Secret that `unionAuth.secretName` means. `EAGER_API_KEY` is no legal name of a Secret, so the
 * name in lower case with `-` for `_` names the Secret (`eager-api-key`); as written it is the key inside.
 *
 * Two names that differ only in case, or in `_` and `-`, mean the same Secret and different keys of it.
 *
 * @param secretName - Setting `unionAuth.secretName`.
 * @returns A refusal when Kubernetes would take the result neither as the name of a Secret (DNS-1123
 *   subdomain, RFC 1123 section 2.1) nor as a key of its `data`.
 */
export function findApiKeySecret(secretName: string): Result<ApiKeySecret, ApiKeySecretRefusal> {
  // A JavaScript caller's settings have no types: `null` would be the key `null`.
  if (typeof (secretName as unknown) !== 'string') return refuse('secret_key_not_legal');
  if (secretName.length > MAX_LENGTH || !SECRET_KEY.test(secretName))
    return refuse('secret_key_not_legal');
  const name = secretName.toLowerCase().replaceAll('_', '-');
  return SUBDOMAIN.test(name) ? accept({ name, key: secretName }) : refuse('secret_name_not_legal');
}
