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

/**
 * Adds a key to the ring. Running servers read it within a second and seal with it after ten
 * minutes; older keys stop opening once everything they sealed has ended.
 *
 * @returns 0; 1 after a report of what is wrong with the configuration or the ring.
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
  let kid: string;
  try {
    kid = rotateKeyRingFile(keyRingFile, Date.now(), absoluteLifetimeMs);
  } catch (error) {
    return reportFailure(toThrownFailure(error, false), options.json === true, stdio);
  }
  stdio.out(
    options.json === true
      ? JSON.stringify({ kid, file: keyRingFile })
      : `added key ${kid} to ${keyRingFile}; it seals in ten minutes`,
  );
  return EXIT.ok;
}
