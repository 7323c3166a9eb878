/**
 * The version of this program, as its manifest has it.
 *
 * @module
 */

import { readFileSync } from 'node:fs';

/** Reads it; the empty string where there is none. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '';
}
