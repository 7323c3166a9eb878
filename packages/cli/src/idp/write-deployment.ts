/**
 * What a setup leaves on this machine: secrets, and the deployment variables.
 *
 * @module
 */

import { realpathSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import {
  type FileTerms,
  findOpenFolder,
  makeFolder,
  readBoundedFile,
  writeWholeFile,
} from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';
import { formatVariables } from '../up/deployment.ts';
import { fileOf, formatSecretManifests, isNamedSecret, listSecretPlaces } from './secret-layout.ts';
import type { Setup } from './setup-options.ts';

/** How secrets are written. */
export interface SecretForm {
  /** One file of manifests in place of a file for each key; those of single components stay files. */
  readonly manifests: boolean;
  readonly controlPlaneSecret: string;
}

/** A file below the setup's folder. */
export interface WrittenFile {
  readonly file: string;
  readonly state: 'written' | 'unchanged';
}

const VARIABLES_FILE = 'deployment.env';
const MANIFESTS_FILE = 'secrets.yaml';
const TERMS: FileTerms = { maxBytes: 1_048_576, mayBeLink: false, owner: 'this_user_or_root' };
/** Name of no file: what is asked about is the folder around it. */
const NO_FILE = '.sallyport';
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/**
 * Writes the files that are not there or not the same, each of mode 0600 in folders of 0700.
 *
 * @param secrets - By client ID: secrets.
 * @throws {SallyportError} `SP_STATE_UNUSABLE` when a file cannot be written.
 */
export function writeDeployment(
  { spec, publicUrl, issuer, folder }: Setup,
  tokenUrl: string,
  secrets: ReadonlyMap<string, string>,
  { manifests, controlPlaneSecret }: SecretForm,
): readonly WrittenFile[] {
  const places = listSecretPlaces(spec, controlPlaneSecret);
  const webSecret = places.flatMap((place) =>
    Object.entries(place.keys)
      .filter(([, clientId]) => clientId === spec.web.clientId)
      .map(([key]) => fileOf(folder, place, key)),
  );
  const variables = {
    PUBLIC_URL: publicUrl,
    OIDC_BASE_URL: issuer,
    OIDC_CLIENT_ID: spec.web.clientId,
    CLI_CLIENT_ID: spec.native.clientId,
    INTERNAL_CLIENT_ID: spec.services[0].clientId,
    AUTH_TOKEN_URL: tokenUrl,
    AUTH_CLIENT_ID: spec.services[0].clientId,
    ...(manifests ? {} : { OIDC_CLIENT_SECRET_FILE: webSecret[0] ?? '' }),
  };
  const files = new Map([[join(folder, VARIABLES_FILE), formatVariables(variables)]]);
  const named = manifests ? places.filter(isNamedSecret) : [];
  if (manifests) files.set(join(folder, MANIFESTS_FILE), formatSecretManifests(named, secrets));
  for (const place of places.filter((entry) => !named.includes(entry)))
    for (const [key, clientId] of Object.entries(place.keys))
      files.set(fileOf(folder, place, key), secrets.get(clientId) ?? '');
  return [...files].map(([file, content]) => ({
    file: relative(folder, file),
    state: writePrivately(file, content),
  }));
}

/**
 * Refuses a folder in which others could put files of theirs in the place of the secrets, also behind a link. One that
 * is not there is refused for what it would lie in. Groups are not looked at.
 *
 * @param folder - Absolute.
 * @throws {SallyportError} `SP_STATE_UNUSABLE` when others may write to it or to one it lies in, or it is theirs.
 */
export function assertOwnFolder(folder: string): void {
  const stat = attempt(folder, () => statSync(folder, { throwIfNoEntry: false }));
  if (stat === undefined) {
    if (dirname(folder) !== folder) assertOwnFolder(dirname(folder));
    return;
  }
  if (process.getuid !== undefined && ![0, process.getuid()].includes(stat.uid))
    throw unusable(
      `nothing is written to ${folder}: it belongs to another user; choose a folder of this user's own`,
    );
  const real = attempt(folder, () => realpathSync(folder));
  const open = findOpenFolder(join(real, NO_FILE));
  if (open !== undefined)
    throw unusable(
      `nothing is written to ${folder}: others may write to ${open}; choose a folder of this user's own`,
    );
}

/** Writes a file of this user's alone, into a folder of this user's alone. */
export function writePrivately(file: string, content: string): WrittenFile['state'] {
  const folder = dirname(file);
  attempt(file, () => makeFolder(folder, PRIVATE_FOLDER));
  assertOwnFolder(folder);
  return attempt(file, () => {
    const found = readBoundedFile(file, { ...TERMS, closedTo: 'reading_and_writing' });
    if (found.ok && found.value === content) return 'unchanged';
    writeWholeFile(file, content, { mode: PRIVATE_FILE, isFlushed: true });
    return 'written';
  });
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw unusable(`${path} cannot be written${code}`);
  }
}

function unusable(detail: string): SallyportError {
  return new SallyportError('SP_STATE_UNUSABLE', { component: 'idp', detail });
}
