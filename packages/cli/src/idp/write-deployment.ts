/**
 * What a setup leaves on this machine: secrets, and the deployment variables.
 *
 * @module
 */

import { dirname, join, relative } from 'node:path';
import {
  type FileTerms,
  makeFolder,
  readBoundedFile,
  writeWholeFile,
} from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';
import { formatVariables } from '../up/deployment.ts';
import { fileOf, formatSecretManifests, listSecretPlaces } from './secret-layout.ts';
import type { Setup } from './setup-options.ts';

/** How secrets are written. */
export interface SecretForm {
  /** One file of manifests in place of a file for each key. */
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
  if (manifests) files.set(join(folder, MANIFESTS_FILE), formatSecretManifests(places, secrets));
  else
    for (const place of places)
      for (const [key, clientId] of Object.entries(place.keys))
        files.set(fileOf(folder, place, key), secrets.get(clientId) ?? '');
  return [...files].map(([file, content]) => ({
    file: relative(folder, file),
    state: writePrivately(file, content),
  }));
}

/** Writes a file of this user's alone. */
export function writePrivately(file: string, content: string): WrittenFile['state'] {
  try {
    const found = readBoundedFile(file, { ...TERMS, closedTo: 'reading_and_writing' });
    if (found.ok && found.value === content) return 'unchanged';
    makeFolder(dirname(file), PRIVATE_FOLDER);
    writeWholeFile(file, content, { mode: PRIVATE_FILE, isFlushed: true });
    return 'written';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new SallyportError('SP_STATE_UNUSABLE', {
      component: 'idp',
      detail: `${file} cannot be written${code}`,
    });
  }
}
