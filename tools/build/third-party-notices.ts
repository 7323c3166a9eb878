/**
 * Licences of the packages whose code the bundle carries.
 *
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { CHECKOUT } from './layout.ts';

/** A package in the bundle, as the lockfile names it. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Text of its licence files; empty where it ships none. */
  readonly text: string;
}

const NO_TEXT = 'The package ships no licence file; https://spdx.org/licenses/ has the text.\n';
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/**
 * Finds the packages that modules come from.
 *
 * @param modules - Absolute paths.
 * @throws When a module lies in a package that the lockfile does not name or that only development needs, or that
 *   names no licence.
 */
export function findBundledPackages(modules: readonly string[]): readonly BundledPackage[] {
  const lock = JSON.parse(readFileSync(join(CHECKOUT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<
      Record<string, { version?: string; license?: string; dev?: boolean }>
    >;
  };
  const folders = new Set(modules.map(packageFolderOf).filter((folder) => folder !== ''));
  return [...folders].toSorted().map((folder) => {
    const { version, license, dev } = lock.packages[folder] ?? {};
    if (dev === true)
      throw new Error(`the bundle carries ${folder}, which only tools of the checkout use`);
    if (version === undefined || license === undefined)
      throw new Error(`the lockfile does not name version and licence of ${folder}`);
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return { name, version, license, text: readLicenceText(join(CHECKOUT, folder)) };
  });
}

/** Writes them as a document, in the same order each time. */
export function formatNotices(packages: readonly BundledPackage[]): string {
  const sections = packages.map(
    ({ name, version, license, text }) =>
      `## ${name} ${version}\n\nLicence: ${license}\n\n${text === '' ? NO_TEXT : `\`\`\`\n${text}\n\`\`\`\n`}`,
  );
  return `# Third-party notices\n\nThe command carries code of these packages.\n\n${sections.join('\n')}`;
}

/**
 * The folder of the innermost package, as the lockfile spells it; empty for a file of this repository. What stands
 * before `node_modules` does not count: an installed package may be a link to the one of another checkout.
 */
function packageFolderOf(module: string): string {
  const path = relative(CHECKOUT, module).replaceAll('\\', '/');
  const folder =
    /(?:packages\/[^/]+\/)?node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path);
  return folder?.[0] ?? '';
}

function readLicenceText(folder: string): string {
  return readdirSync(folder)
    .filter((name) => LICENCE_FILE.test(name))
    .toSorted()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
    .join('\n\n');
}
