/**
 * An image's archives, unpacked: its configuration and its files.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What an image says about its containers, in either format. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly StopSignal: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Volumes: Readonly<Record<string, object>>;
  /** In the docker format alone. */
  readonly Healthcheck?: { readonly Test: readonly string[] };
}

/** The configuration's file. */
export interface ImageFile {
  readonly architecture: string;
  readonly created: string;
  readonly config: ImageConfig;
  readonly history: readonly { readonly created: string; readonly created_by: string }[];
}

/** An image, ready to run. */
export interface UnpackedImage {
  /** Folder of the files of all layers. */
  readonly rootFilesystem: string;
  /** The one volume. */
  readonly volume: string;
  readonly config: ImageConfig;
}

/** Unpacks an archive of the docker format. Needs root, as owners are kept. */
export function unpackImage(archive: string, folder: string): UnpackedImage & { file: ImageFile } {
  const packed = join(folder, 'archive');
  const rootFilesystem = join(folder, 'root');
  for (const each of [packed, rootFilesystem]) mkdirSync(each, { recursive: true });
  unpack(archive, packed);
  const [{ Config: name, Layers: layers }] = readJson(join(packed, 'manifest.json')) as [
    { readonly Config: string; readonly Layers: readonly string[] },
  ];
  for (const layer of layers) unpack(join(packed, layer), rootFilesystem);
  // Engines make the places of their mounts before the container starts.
  writeFileSync(join(rootFilesystem, 'etc/hosts'), '');
  mkdirSync(join(rootFilesystem, 'run/secrets'));
  const file = readJson(join(packed, name)) as ImageFile;
  const [volume = ''] = Object.keys(file.config.Volumes);
  return { rootFilesystem, volume, config: file.config, file };
}

/** Reads the configuration from an archive of the OCI format. */
export function readOciArchive(archive: string, folder: string): ImageFile {
  mkdirSync(folder, { recursive: true });
  unpack(archive, folder);
  const blob = (digest: string): unknown =>
    readJson(join(folder, 'blobs', digest.replace(':', '/')));
  const index = readJson(join(folder, 'index.json')) as {
    readonly manifests: readonly [{ readonly digest: string }];
  };
  const manifest = blob(index.manifests[0].digest) as {
    readonly config: { readonly digest: string };
  };
  return blob(manifest.config.digest) as ImageFile;
}

/** Lists everything below a folder: path, kind and permissions, owner, size and time. */
export function listTree(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => {
      const { mode, uid, gid, size, mtimeMs } = lstatSync(path);
      return `/${relative(folder, path)} ${mode.toString(8)} ${uid}:${gid} ${size} ${mtimeMs}`;
    })
    .toSorted();
}

function unpack(archive: string, folder: string): void {
  const options = ['--extract', '--preserve-permissions', '--numeric-owner'];
  execFileSync('tar', [...options, '--file', archive, '--directory', folder]);
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
