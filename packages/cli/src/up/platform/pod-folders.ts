/**
 * The files of the platform's pods: Secrets, the folders they are mounted in, and a configuration file each.
 *
 * @module
 */

import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { API_KEY_VARIABLE, findApiKeySecret } from '@sallyport/protocol';
import { stringify } from 'yaml';
import {
  ACTORS,
  type Actor,
  type ActorName,
  DATA_PLANE_NAMESPACE,
  SECRETS,
  type SecretName,
} from '../../../../../examples/platform/actors.ts';
import {
  buildConfiguration,
  type PlatformPlace,
} from '../../../../../examples/platform/configuration.ts';

/** What {@link writePodFolders} puts into the files. */
export interface PodContents extends PlatformPlace {
  /** File with the service app's secret. */
  readonly clientSecretFile: string;
  /** A secret. */
  readonly apiKey: string;
}

/** The files of one pod. */
export interface PodFiles {
  /** Stands for the root of its file system. */
  readonly folder: string;
  /** Absent for the task pod. */
  readonly configFile: string | undefined;
  /** Name of the Kubernetes Secret. */
  readonly secret: string;
  readonly secretFile: string;
  readonly logFile: string;
}

/** Where the Secrets of a namespace stand, each a folder with a file for each key. */
export function secretFolder(platform: string, namespace: string, name: string): string {
  return join(platform, 'secrets', namespace, name);
}

/**
 * Writes everything anew; what stood there before is gone. Folders are of mode 0700 and files of 0600.
 *
 * A Secret stands once and is mounted by a symbolic link, so that a change reaches each of its users, as in a cluster.
 *
 * @param platform - The folder for all of it.
 */
export function writePodFolders(
  platform: string,
  contents: PodContents,
): ReadonlyMap<ActorName, PodFiles> {
  for (const part of ['secrets', 'pods', 'logs'])
    rmSync(join(platform, part), { recursive: true, force: true });
  mkdirSync(join(platform, 'logs'), { recursive: true, mode: 0o700 });
  const clientSecret = readFileSync(contents.clientSecretFile, 'utf8');
  for (const name of Object.keys(SECRETS) as SecretName[])
    write(join(folderOf(platform, name), 'client_secret'), clientSecret);
  // The control plane service secret exists already, with the database's password in it.
  write(join(folderOf(platform, 'control-plane-services'), 'pass.txt'), 'no-database-here');
  const apiKeyFile = join(apiKeyFolder(platform), API_KEY_VARIABLE);
  write(apiKeyFile, contents.apiKey);
  return new Map(
    ACTORS.map((actor) => [actor.name, writePod(platform, actor, contents, apiKeyFile)]),
  );
}

function writePod(
  platform: string,
  actor: Actor,
  place: PlatformPlace,
  apiKeyFile: string,
): PodFiles {
  const folder = join(platform, 'pods', actor.name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const logFile = join(platform, 'logs', `${actor.name}.log`);
  const { secret } = actor;
  if (secret === undefined)
    return {
      folder,
      configFile: undefined,
      secret: 'eager-api-key',
      secretFile: apiKeyFile,
      logFile,
    };
  const mount = join(folder, SECRETS[secret].mountPath);
  const secretFile = join(mount, 'client_secret');
  mkdirSync(dirname(mount), { recursive: true, mode: 0o700 });
  symlinkSync(relative(dirname(mount), folderOf(platform, secret)), mount, 'junction');
  const configFile = join(folder, 'config.yaml');
  write(configFile, stringify(buildConfiguration(actor, place, secretFile)));
  return { folder, configFile, secret, secretFile, logFile };
}

function folderOf(platform: string, secret: SecretName): string {
  return secretFolder(platform, SECRETS[secret].namespace, secret);
}

function apiKeyFolder(platform: string): string {
  const secret = findApiKeySecret(API_KEY_VARIABLE);
  if (!secret.ok) throw new TypeError(secret.error);
  return secretFolder(platform, DATA_PLANE_NAMESPACE, secret.value.name);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600 });
}
