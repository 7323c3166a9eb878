/**
 * The commands of the key ring, as the command line has them.
 *
 * @module
 */

import type { Command } from 'commander';
import type { Stdio } from '../terminal/stdio.ts';
import { finish } from './finish.ts';
import { parseSecretPlace } from './secret-place.ts';

/** Declares `create-keys`. It loads its code when it runs. */
export function declareCreateKeys(command: Command, stdio: Stdio): void {
  command
    .requiredOption('--secret <place>', 'NAMESPACE/NAME of the Secret', parseSecretPlace)
    .option('--json', 'print as JSON')
    .action(async (options) => {
      const { createKeys } = await import('./create-keys.ts');
      await finish(createKeys(options, stdio), stdio);
    });
}

/** Declares `rotate-keys`. It loads its code when it runs. */
export function declareRotateKeys(command: Command, stdio: Stdio): void {
  command
    .option('--config <file>', 'YAML file')
    .option('--state <folder>', 'where the key ring is kept')
    .option(
      '--secret <place>',
      'NAMESPACE/NAME of the Kubernetes Secret that holds the key ring, in place of a file',
      parseSecretPlace,
    )
    .option('--json', 'print as JSON')
    .action(async (options) => {
      const { rotateKeys } = await import('./rotate-keys.ts');
      await finish(rotateKeys(options, stdio), stdio);
    });
}
