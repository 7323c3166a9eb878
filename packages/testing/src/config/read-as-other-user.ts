/**
 * A program that reads the file of a client secret as a user that may not, and reports what it says.
 *
 * @module
 */

import { readClientSecretFile, type SecretPlace } from '../../../config/src/client-secret-file.ts';

process.once('message', (place: SecretPlace) => {
  // Root may read everything.
  if (process.getuid?.() === 0) {
    process.setgroups?.([]);
    process.setgid?.(65_534);
    process.setuid?.(65_534);
  }
  const read = readClientSecretFile(place);
  process.send?.(read.ok ? 'read' : read.error, () => process.disconnect?.());
});
process.send?.('ready');
