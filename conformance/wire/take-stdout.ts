/**
 * What a command writes to stdout without opening it as a stream, for a process that runs several.
 *
 * @module
 */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const STDOUT = 1;

/**
 * Has each write to stdout by its descriptor go elsewhere, from now on.
 *
 * @param take - Gets the bytes.
 */
export function takeStdout(take: (bytes: Uint8Array) => void): void {
  const { writeSync } = fs;
  const taking = (descriptor: number, data: Uint8Array | string, ...rest: readonly []): number => {
    if (descriptor !== STDOUT) return writeSync(descriptor, data as Uint8Array, ...rest);
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    take(bytes);
    return bytes.byteLength;
  };
  fs.writeSync = taking as typeof fs.writeSync;
  syncBuiltinESMExports();
}
