/**
 * The version of this program, as its manifest has it.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { locateInPackage } from './package-root.ts';

/** Reads it; the empty string where there is none. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(locateInPackage('package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '';
}
