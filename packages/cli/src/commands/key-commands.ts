/**
 * The commands of the key ring, as the command line has them.
 *
 * @module
 */

import type { Command } from 'commander';
import type { Stdio } from '../terminal/stdio.ts';
import { finish } from './finish.ts';
import { parseSecretPlace } from './secret-place.ts';

/** Adds `create-keys` and `rotate-keys`. Each loads its code when it runs. */
export function addKeyCommands(program: Command, stdio: Stdio): void {
  program
    .command('create-keys')
    .description('make a key ring in a Kubernetes Secret, where there is none; replicas share it')
    .requiredOption('--secret <place>', 'NAMESPACE/NAME of the Secret', parseSecretPlace)
    .option('--json', 'print as JSON')
    .action(async (options) => {
      const { createKeys } = await import('./create-keys.ts');
      await finish(createKeys(options, stdio), stdio);
    });

  program
    .command('rotate-keys')
    .description('add a key to the key ring; it seals ten minutes later; sessions continue')
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
