/**
 * `sallyport rotate-keys`: a new sealing key; all sessions stay.
 *
 * @module
 */

import { rotateKeyRingFile } from '@sallyport/server';
import {
  type ConfigurationOptions,
  readConfiguration,
  reportProblems,
} from '../admin/configuration.ts';
import { reportFailure, toThrownFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { formatSecretPlace, type SecretPlace } from './secret-place.ts';

/** Options of the command line. */
export interface RotateKeysOptions extends ConfigurationOptions {
  /** The Kubernetes Secret that holds the ring, in place of the file. */
  readonly secret?: SecretPlace;
  readonly json?: boolean;
}

/**
 * Adds a key to the ring. Running servers read it within a second, from a Secret within a minute or two, and seal with
 * it after ten minutes; older keys stop opening once everything they sealed has ended.
 *
 * @returns 0; 1 after a report of what is wrong with the configuration or the ring.
 */
export async function rotateKeys(options: RotateKeysOptions, stdio: Stdio): Promise<number> {
  const isJson = options.json === true;
  const loaded = readConfiguration(options, process.env);
  if (!loaded.ok) {
    reportProblems(loaded.error, isJson, stdio);
    return EXIT.failure;
  }
  const { keyRingFile, absoluteLifetimeMs } = loaded.value.config.session;
  const { secret } = options;
  const place = secret === undefined ? keyRingFile : formatSecretPlace(secret);
  let kid: string;
  try {
    kid =
      secret === undefined
        ? rotateKeyRingFile(keyRingFile, Date.now(), absoluteLifetimeMs)
        : await rotateSecret(secret, absoluteLifetimeMs);
  } catch (error) {
    return reportFailure(toThrownFailure(error, false), isJson, stdio);
  }
  const where = secret === undefined ? { file: place } : { secret: place };
  stdio.out(
    isJson
      ? JSON.stringify({ kid, ...where })
      : `added key ${kid} to ${place}; it seals in ten minutes`,
  );
  return EXIT.ok;
}

/** What concerns a cluster is loaded for it alone. */
async function rotateSecret(secret: SecretPlace, longestSealedMs: number): Promise<string> {
  const { openSecretStore, rotateRingSecret } = await import('../admin/ring-secret.ts');
  const store = openSecretStore(secret.namespace, process.env);
  return rotateRingSecret(store, secret.name, Date.now(), longestSealedMs);
}
