/**
 * `npm run image`: builds the container image from the command's tarball, in the OCI and the docker format.
 *
 * `npm run build -- --pack` makes the tarball. Needs buildah, mmdebstrap and elfutils, and root.
 *
 * @module
 */

import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readCommitTime } from './build/git-head.ts';
import { COMMAND_FOLDER, OUTPUT, readManifest } from './build/layout.ts';
import { TARBALLS } from './build/pack.ts';
import { buildImage } from './image/build-image.ts';
import { findPlatform } from './image/platform.ts';
import { describeMissing } from './image/required-programs.ts';
import { makeRootFilesystem } from './image/root-filesystem.ts';
import { describeSizes } from './image/sizes.ts';

const { values } = parseArgs({
  options: {
    arch: { type: 'string' },
    base: { type: 'string' },
    out: { type: 'string' },
    root: { type: 'string' },
    tarball: { type: 'string' },
  },
});
const missing = describeMissing(process.env['PATH'] ?? '', process.getuid?.());
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
const platform = findPlatform(values.arch);
const output = resolve(values.out ?? join(OUTPUT, 'image'));
mkdirSync(output, { recursive: true });
const { version } = readManifest(COMMAND_FOLDER);
const tarball = resolve(values.tarball ?? join(OUTPUT, TARBALLS, `sallyport-${version}.tgz`));
if (!existsSync(tarball))
  throw new Error(`${tarball} is missing: npm run build -- --pack makes it`);
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
