/**
 * Writing a profile after signing in to an endpoint that was named.
 *
 * @module
 */

import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder, writeWholeFile } from '@sallyport/config/files';
import { parse } from 'yaml';
import { DEFAULT_PROFILE, type SelectedProfile } from './profile.ts';
import { writeProfile } from './profile-file.ts';
import { readProfiles } from './profiles.ts';
import type { Sources } from './sources.ts';

/** What was written. */
export interface SavedProfile {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** Whether the next command uses it without naming it. */
  readonly isSelectedByItself: boolean;
}

/**
 * Writes endpoint and certificates of a profile into the person's file, as far as they
 * were given as options; replaces the file whole.
 *
 * Without a name, writes the profile that already has this endpoint; otherwise a new one, named
 * after the host unless it is the first. Never changes the endpoint of a profile that was not named.
 */
export function saveProfile(
  sources: Sources,
  { profile, endpoint }: { readonly profile: SelectedProfile; readonly endpoint: string },
): SavedProfile {
  const { options, folders, userFile } = sources;
  const isNamed = profile.origin === '--profile' || profile.origin === 'SALLYPORT_PROFILE';
  const name = isNamed ? profile.name : selectName(sources, endpoint);
  const text = writeProfile(userFile?.text ?? '', name, {
    'admin.endpoint': endpoint.startsWith('http://') ? endpoint : `dns:///${hostOf(endpoint)}`,
    ...(options.caFile === undefined ? {} : { 'admin.caCertFilePath': resolve(options.caFile) }),
  });
  const path = folders.configFile;
  makeFolder(dirname(path), 0o700);
  // Where a link leads to it, the file is replaced and the link stays.
  const target = userFile === undefined ? path : realpathSync(path);
  writeWholeFile(target, text);
  const { profile: _, endpoint: __, ...unnamed } = options;
  const after = readProfiles({ ...sources, options: unnamed, userFile: { path, text } });
  const isSelectedByItself = after.ok && after.value.selected.name === name;
  return { name, path, text, isSelectedByItself };
}

function selectName(sources: Sources, endpoint: string): string {
  const profiles = readProfiles(sources);
  if (!profiles.ok || profiles.value.names.length === 0) return DEFAULT_PROFILE;
  const { names, settingsOf } = profiles.value;
  const same = names.find((name) => originOf(settingsOf(name).text) === new URL(endpoint).origin);
  return (
    same ??
    hostOf(endpoint)
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 64)
  );
}

/** Origin of a profile's endpoint, in whichever form it is written; everything but `http:` is TLS. */
function originOf(text: string): string {
  const settings: unknown = parse(text);
  const { admin } = (settings ?? {}) as { admin?: { endpoint?: unknown } };
  const endpoint = admin?.endpoint;
  if (typeof endpoint !== 'string') return '';
  const host = endpoint.replace(/^(?:dns:\/\/|https?:)?\/\//, '').replace(/^\/|\/$/g, '');
  return URL.parse(`${endpoint.startsWith('http://') ? 'http' : 'https'}://${host}`)?.origin ?? '';
}

function hostOf(endpoint: string): string {
  return new URL(endpoint).host;
}
