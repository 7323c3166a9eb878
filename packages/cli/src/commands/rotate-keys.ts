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
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/**
 * Adds a key to the ring. Running servers read it within a second and seal with it after ten
 * minutes; older keys stop opening once everything they sealed has ended.
 */
export async function rotateKeys(
  options: ConfigurationOptions & { readonly json?: boolean },
  stdio: Stdio,
): Promise<number> {
  const loaded = readConfiguration(options, process.env);
  if (!loaded.ok) {
    reportProblems(loaded.error, options.json === true, stdio);
    return EXIT.failure;
  }
  const { keyRingFile, absoluteLifetimeMs } = loaded.value.config.session;
  const kid = rotateKeyRingFile(keyRingFile, Date.now(), absoluteLifetimeMs);
  stdio.out(
    options.json === true
      ? JSON.stringify({ kid, file: keyRingFile })
      : `added key ${kid} to ${keyRingFile}; it seals in ten minutes`,
  );
  return EXIT.ok;
}
