/**
 * `npm run image`: builds the container image from the command's tarball, in the OCI and the docker format.
 *
 * `npm run build -- --pack` makes the tarball. Needs buildah, mmdebstrap and elfutils, and root.
 *
 * @module
 */

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readCommitTime } from './build/git-head.ts';
import { COMMAND_FOLDER, OUTPUT, readManifest } from './build/layout.ts';
import { TARBALLS } from './build/pack.ts';
import { orExit, readOptions, requireFile } from './command-line/usage.ts';
import { buildImage } from './image/build-image.ts';
import { findPlatform } from './image/platform.ts';
import { describeMissing } from './image/required-programs.ts';
import { makeRootFilesystem } from './image/root-filesystem.ts';
import { describeSizes } from './image/sizes.ts';

const USAGE = `usage: npm run image -- [--arch amd64|arm64] [--tarball FILE] [--root FILE | --base IMAGE] [--out FOLDER]`;
/** Images in a file, as containers' programs spell them. */
const ARCHIVE = /^(?:docker|oci)-archive:([^:]+)/;

const values = readOptions(USAGE, {
  arch: { type: 'string' },
  base: { type: 'string' },
  out: { type: 'string' },
  root: { type: 'string' },
  tarball: { type: 'string' },
});
const output = resolve(values.out ?? join(OUTPUT, 'image'));
const { version } = readManifest(COMMAND_FOLDER);
const tarball = resolve(values.tarball ?? join(OUTPUT, TARBALLS, `sallyport-${version}.tgz`));
const platform = orExit(USAGE, () => {
  const found = findPlatform(values.arch);
  requireFile(tarball, 'npm run build -- --pack makes one');
  if (values.root !== undefined)
    requireFile(resolve(values.root), 'npm run image without --root makes one');
  const [, archive] = ARCHIVE.exec(values.base ?? '') ?? [];
  if (archive !== undefined) requireFile(resolve(archive), '--base names it');
  return found;
});
const missing = describeMissing(process.env['PATH'] ?? '', process.getuid?.());
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
mkdirSync(output, { recursive: true });
const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? Date.parse(readCommitTime()) / 1_000);

let base: { readonly image: string } | { readonly rootFilesystem: string };
if (values.base === undefined) {
  const rootFilesystem = resolve(values.root ?? join(output, `root-${platform.debian}.tar`));
  if (values.root === undefined) makeRootFilesystem(rootFilesystem, platform, epoch);
  base = { rootFilesystem };
} else base = { image: values.base };

const { sizes, ...image } = await buildImage({ tarball, output, platform, base, epoch });
console.log(`${image.ociArchive}\n  ${image.digest}`);
console.log(`${image.dockerArchive}\n  ${image.dockerId}`);
console.log(describeSizes(sizes));
