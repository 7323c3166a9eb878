/**
 * The package.json that is published: what an installation needs, and nothing of the checkout.
 *
 * @module
 */

/** The members of a workspace's package.json that packing reads. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly optionalDependencies?: Versions;
  readonly [member: string]: unknown;
}

/** A package.json that is ready to be published. */
export type PackedManifest = Readonly<Record<string, unknown>>;

type Versions = Readonly<Record<string, string>>;

/** The export condition that leads to the sources, in a checkout. */
const SOURCE = 'source';

/**
 * Makes a library's manifest.
 *
 * A subpath whose only condition is `source` is for the packages of this repository alone: it is left out,
 * so nothing that is installed can reach it.
 *
 * @param gitHead - The commit it is built from; absent when unknown.
 */
export function packLibraryManifest(
  manifest: Manifest,
  gitHead: string | undefined,
): PackedManifest {
  const exports = Object.entries(manifest.exports ?? {}).flatMap(([subpath, conditions]) => {
    const kept = Object.entries(conditions).filter(([condition]) => condition !== SOURCE);
    return kept.length === 0 ? [] : [[subpath, Object.fromEntries(kept)] as const];
  });
  return withoutMembers(
    { ...manifest, exports: Object.fromEntries(exports), ...(gitHead && { gitHead }) },
    ['devDependencies'],
  );
}

/**
 * Makes the manifest of the bundled command: the bundle carries its dependencies, so it has none but the
 * optional ones that no bundle can carry.
 *
 * @param gitHead - The commit it is built from; absent when unknown.
 */
export function packCommandManifest(
  manifest: Manifest,
  optionalDependencies: Versions,
  gitHead: string | undefined,
): PackedManifest {
  return withoutMembers({ ...manifest, optionalDependencies, ...(gitHead && { gitHead }) }, [
    'dependencies',
    'devDependencies',
  ]);
}

function withoutMembers(manifest: PackedManifest, names: readonly string[]): PackedManifest {
  return Object.fromEntries(Object.entries(manifest).filter(([name]) => !names.includes(name)));
}
