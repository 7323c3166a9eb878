/**
 * From the command's tarball to the archives of an image.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStorage, type Storage } from './buildah.ts';
import { fillContext } from './context.ts';
import { rewriteDockerArchive } from './docker-archive.ts';
import { packFolder } from './pack-folder.ts';
import type { Platform } from './platform.ts';
import type { ImageSizes } from './sizes.ts';
import { summarizeImage } from './summarize-image.ts';

/** How to build. */
export interface BuildOptions {
  /** The command's tarball. */
  readonly tarball: string;
  /** Folder of the archives. */
  readonly output: string;
  readonly platform: Platform;
  /** What the image stands on: a root file system as a tar archive, or the name of an image that has Node. */
  readonly base: { readonly rootFilesystem: string } | { readonly image: string };
  /** Seconds: the time of the image and of every file in it. */
  readonly epoch: number;
}

/** What was built. */
export interface BuiltImage {
  /** An OCI layout in a tar archive. That format has no health check. */
  readonly ociArchive: string;
  /** For `docker load` and `podman load`, with the health check. */
  readonly dockerArchive: string;
  /** Of the OCI manifest. */
  readonly digest: string;
  /** Of the configuration in the docker format, by which that format names an image. */
  readonly dockerId: string;
  readonly sizes: ImageSizes;
}

/** Name of the image in the archives. */
const NAME = 'localhost/sallyport';
const BASE_NAME = 'localhost/sallyport-base:latest';

/** Builds both formats. Archives that are there are replaced. */
export async function buildImage(options: BuildOptions): Promise<BuiltImage> {
  const { output, platform, base, epoch, tarball } = options;
  const { name, version, gitHead = 'unknown' } = readManifest(tarball);
  if (name !== 'sallyport') throw new Error(`${tarball} holds ${name}, not the command`);
  mkdirSync(output, { recursive: true });
  const work = mkdtempSync(join(output, 'work-'));
  const storage = openStorage(work);
  try {
    const empty = join(work, 'context');
    mkdirSync(empty);
    const hasNode = 'image' in base;
    const context = fillContext(empty, { tarball, platform, hasNode, epoch });
    if ('rootFilesystem' in base) importBase(storage, work, base.rootFilesystem, options);
    const reference = `${NAME}:${version}`;
    const values = {
      BASE: 'image' in base ? base.image : BASE_NAME,
      VERSION: version,
      REVISION: gitHead,
      CREATED: new Date(epoch * 1_000).toISOString(),
    };
    const buildArgs = Object.entries(values).map(([key, value]) => `--build-arg=${key}=${value}`);
    build(storage, reference, context.folder, options, ...buildArgs);

    const stem = join(output, `sallyport-${version}-${platform.debian}`);
    const dockerArchive = `${stem}.docker.tar`;
    const ociArchive = `${stem}.oci.tar`;
    for (const archive of [dockerArchive, ociArchive]) rmSync(archive, { force: true });
    storage.run('push', '--quiet', reference, `docker-archive:${dockerArchive}:${reference}`);
    const rewritten = join(work, 'docker');
    mkdirSync(rewritten);
    const dockerId = rewriteDockerArchive(dockerArchive, rewritten, epoch);
    const layout = join(work, 'oci');
    storage.run('push', '--quiet', '--format=oci', reference, `oci:${layout}:${reference}`);
    packFolder(layout, ociArchive, epoch);

    const { digest, packed, layers } = await summarizeImage(layout);
    const node = context.node === undefined ? 0 : statSync(context.node).size;
    // What the Containerfile adds is one layer.
    const added = layers.at(-1) ?? 0;
    const below = layers.reduce((sum, size) => sum + size, -added);
    const sizes = { base: below, node, own: added - node, packed };
    return { ociArchive, dockerArchive, digest, dockerId, sizes };
  } finally {
    storage.remove();
    rmSync(work, { recursive: true, force: true });
  }
}

/** Makes an image of one layer from a root file system. */
function importBase(storage: Storage, work: string, archive: string, options: BuildOptions): void {
  const context = join(work, 'base');
  mkdirSync(context);
  copyFileSync(archive, join(context, 'base.tar'));
  writeFileSync(join(context, 'Containerfile'), 'FROM scratch\nADD base.tar /\n');
  build(storage, BASE_NAME, context, options);
}

/** Builds a context with what makes the result depend on it alone. */
function build(
  storage: Storage,
  reference: string,
  context: string,
  { platform, epoch }: BuildOptions,
  ...more: readonly string[]
): void {
  storage.run(
    'build',
    '--quiet',
    '--isolation=chroot',
    // A health check exists in this format alone; the other is made from it.
    '--format=docker',
    '--layers=false',
    '--identity-label=false',
    '--os=linux',
    `--arch=${platform.debian}`,
    `--timestamp=${epoch}`,
    `--tag=${reference}`,
    ...more,
    context,
  );
}

interface CommandManifest {
  readonly name: string;
  readonly version: string;
  readonly gitHead?: string;
}

function readManifest(tarball: string): CommandManifest {
  const args = ['--extract', '--to-stdout', '--file', tarball, 'package/package.json'];
  return JSON.parse(execFileSync('tar', args, { encoding: 'utf8' })) as CommandManifest;
}
