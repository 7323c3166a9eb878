/**
 * The version of this program, as its manifest has it.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs';
import { locateInPackage } from './package-root.ts';

/** Reads it; the empty string where there is none. */
export function readVersion(): string {
  return readMember('version');
}

/**
 * Describes what runs, a line each: the version, Node's, and the commit that the package was built from. The
 * commit comes from the package's own manifest; a checkout's manifest has none.
 */
export function describeVersion(): string {
  const gitHead = readMember('gitHead');
  const isCheckout = existsSync(locateInPackage('src/main.ts'));
  const unknown = isCheckout ? 'run from a checkout' : 'built from an unknown commit';
  return [
    readVersion(),
    `Node ${process.version}`,
    gitHead === '' ? unknown : `built from ${gitHead}`,
  ].join('\n');
}

function readMember(name: string): string {
  const manifest: unknown = JSON.parse(readFileSync(locateInPackage('package.json'), 'utf8'));
  const value: unknown =
    typeof manifest === 'object' && manifest !== null ? Reflect.get(manifest, name) : undefined;
  return typeof value === 'string' ? value : '';
}
