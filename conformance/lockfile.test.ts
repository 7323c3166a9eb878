/**
 * What an installation brings onto a machine: nothing that the lockfile does not pin with its digest, the
 * Node that everything runs on included, and nothing that runs by itself.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, ROOT), 'utf8');

/** One entry of `packages` in package-lock.json, as far as it matters here. */
interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const LOCK = JSON.parse(read('package-lock.json')) as { packages: Record<string, Entry> };
/** What comes from a registry. */
function installedBy(
  packages: Readonly<Record<string, Entry>>,
): readonly (readonly [string, Entry])[] {
  return Object.entries(packages).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
  );
}
const INSTALLED = installedBy(LOCK.packages);

/** Packages with a program that npm would run when it installs them: none is needed. */
const WITH_SCRIPTS = ['node_modules/protobufjs'];
/**
 * Tools of development, built for platforms for which the registry in use gave no digest. npm installs
 * them on that platform alone.
 */
const WITHOUT_DIGEST =
  /^node_modules\/@(?:biomejs\/cli|oxc-parser\/binding|oxlint\/binding|oxlint-tsgolint\/)/;

/** Packages without a digest, other than those tools. */
function looseIn(packages: Readonly<Record<string, Entry>>): readonly string[] {
  return installedBy(packages)
    .filter(([path, { integrity, dev, optional, os }]) => {
      const isTool =
        WITHOUT_DIGEST.test(path) && dev === true && optional === true && os !== undefined;
      return !isTool && integrity?.startsWith('sha512-') !== true;
    })
    .map(([path]) => path);
}

/** Packages that run a program when they are installed. */
function scriptedIn(packages: Readonly<Record<string, Entry>>): readonly string[] {
  return installedBy(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path);
}

describe('package-lock.json', () => {
  it('pins every package with its digest, except development tools for other platforms', () => {
    expect(looseIn(LOCK.packages)).toEqual([]);
    expect(INSTALLED.length).toBeGreaterThan(100);
  });

  it('has no further package that runs a program when it is installed, and npm runs none', () => {
    expect(scriptedIn(LOCK.packages)).toEqual(WITH_SCRIPTS);
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
  });

  it('a package without a digest, or with such a program, is found', () => {
    const planted = {
      'node_modules/planted': { version: '1.0.0', dev: true, optional: true, os: 'linux' },
      'node_modules/@biomejs/cli-planted': { version: '1.0.0' },
      'node_modules/a/node_modules/b': { integrity: 'sha512-x', hasInstallScript: true },
      'node_modules/old': { integrity: 'sha1-x' },
    };
    expect(looseIn(planted)).toEqual([
      'node_modules/planted',
      'node_modules/@biomejs/cli-planted',
      'node_modules/old',
    ]);
    expect(scriptedIn(planted)).toEqual(['node_modules/a/node_modules/b']);
  });

  it('brings the same Node for each platform, each by itself: no package fetches another', () => {
    const wanted = LOCK.packages['']?.optionalDependencies ?? {};
    const nodes = Object.keys(wanted).map((name) => LOCK.packages[`node_modules/${name}`]);
    const platforms = nodes.map((node) => `${node?.os} ${node?.cpu}`);
    expect(new Set(platforms)).toEqual(
      new Set(['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64', 'win32 x64']),
    );
    const [version = ''] = Object.values(wanted);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    for (const [index, node] of nodes.entries()) {
      expect(node, Object.keys(wanted)[index]).toMatchObject({
        version,
        optional: true,
        integrity: expect.stringMatching(/^sha512-/),
        bin: { node: expect.stringMatching(/^bin\/node/) },
      });
      expect(node?.hasInstallScript).toBeUndefined();
    }
    // What `npm start` and `npm test` find first must be that one.
    const others = INSTALLED.filter(([, entry]) => entry.bin?.['node'] !== undefined);
    expect(others).toHaveLength(nodes.length);
  });
});
