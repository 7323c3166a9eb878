/**
 * `sallyport create-keys`: a key ring that replicas share, where there is none.
 *
 * @module
 */

import { createRingSecret, openSecretStore } from '../admin/ring-secret.ts';
import { reportFailure, toThrownFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { formatSecretPlace, type SecretPlace } from './secret-place.ts';

/**
 * Makes the Secret with one new key. A key ring that is there stays as it is, so that the command can be repeated.
 *
 * @returns 0; 1 after a report of why there is no key ring.
 */
export async function createKeys(
  { secret, json }: { readonly secret: SecretPlace; readonly json?: boolean },
  stdio: Stdio,
): Promise<number> {
  const isJson = json === true;
  const place = formatSecretPlace(secret);
  let created: boolean;
  try {
    const store = openSecretStore(secret.namespace, process.env);
    created = await createRingSecret(store, secret.name, Date.now());
  } catch (error) {
    return reportFailure(toThrownFailure(error, false), isJson, stdio);
  }
  const text = created ? `made the key ring in ${place}` : `${place} has a key ring; it stays`;
  stdio.out(isJson ? JSON.stringify({ created, secret: place }) : text);
  return EXIT.ok;
}
