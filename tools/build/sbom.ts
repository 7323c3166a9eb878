/**
 * Software bills of materials: what each published package is made of and depends on (CycloneDX).
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { CHECKOUT } from './layout.ts';
import type { Manifest } from './packed-manifest.ts';

/** The members of a CycloneDX document that are set here. */
interface Bom {
  serialNumber?: string;
  metadata: { timestamp: string; component: Readonly<Record<string, unknown>> };
}

/**
 * Makes the bill of a workspace from the lockfile. The command's names the packages that its bundle carries,
 * and those that are optional.
 *
 * npm takes the name of the folder for the component and a random serial number. Both are replaced, and the
 * time is the commit's, so the same commit makes the same document.
 *
 * @param at - Time of the commit, RFC 3339.
 */
export function makeBom({ name, version }: Manifest, at: string): string {
  // Not `--omit dev`: npm would leave out what the checkout's tests use as well.
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--workspace', name];
  const bom = JSON.parse(
    execFileSync('npm', args, { cwd: CHECKOUT, encoding: 'utf8', maxBuffer: 2 ** 25 }),
  ) as Bom;
  delete bom.serialNumber;
  bom.metadata.timestamp = at;
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  bom.metadata.component = { ...bom.metadata.component, name, version, purl };
  return `${JSON.stringify(bom, null, 2)}\n`;
}
