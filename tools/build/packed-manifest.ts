/**
 * The package.json that is published: what an installation needs, and nothing of the checkout.
 *
 * @module
 */

/** The members of a workspace's package.json that packing reads. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly [member: string]: unknown;
}

type Versions = Readonly<Record<string, string>>;

/**
 * Makes the manifest of the bundled command: the bundle carries its dependencies, so it has none but the
 * optional ones that no bundle can carry.
 */
export function packCommandManifest(
  manifest: Manifest,
  optionalDependencies: Versions,
): Readonly<Record<string, unknown>> {
  const packed: Record<string, unknown> = { ...manifest, optionalDependencies };
  for (const member of ['dependencies', 'devDependencies']) delete packed[member];
  return packed;
}
