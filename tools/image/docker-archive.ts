/**
 * The image as `docker load` and `podman load` read it, equal images as equal archives.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packFolder } from './pack-folder.ts';

/** The one image of an archive, as its manifest.json has it. */
interface ArchivedImage {
  readonly Config: string;
  readonly RepoTags: readonly string[];
  readonly Layers: readonly string[];
}

/** Names of the build that buildah writes into a configuration; each build has others. */
const OF_THE_BUILD: readonly string[] = ['container', 'container_config', 'parent'];

/**
 * Replaces an archive of buildah by one without names of the build and without the files of Docker before 1.10.
 *
 * @param work - An empty folder.
 * @param epoch - Seconds: the time of every entry.
 *
 * @returns Digest of the configuration, by which Docker names the image.
 */
export function rewriteDockerArchive(archive: string, work: string, epoch: number): string {
  execFileSync('tar', ['--extract', '--file', archive, '--directory', work]);
  const [image] = readJson(join(work, 'manifest.json')) as readonly [ArchivedImage];
  const { config, ...rest } = readJson(join(work, image.Config)) as Record<string, unknown>;
  for (const name of OF_THE_BUILD) delete rest[name];
  const text = JSON.stringify({ ...rest, config: { ...(config as object), Hostname: '' } });
  const id = createHash('sha256').update(text).digest('hex');

  const packed = join(work, 'packed');
  mkdirSync(packed);
  writeFileSync(join(packed, `${id}.json`), text);
  for (const layer of image.Layers) renameSync(join(work, layer), join(packed, layer));
  const manifest: readonly [ArchivedImage] = [{ ...image, Config: `${id}.json` }];
  writeFileSync(join(packed, 'manifest.json'), JSON.stringify(manifest));
  packFolder(packed, archive, epoch);
  return `sha256:${id}`;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
