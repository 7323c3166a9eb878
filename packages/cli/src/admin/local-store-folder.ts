/**
 * The folder of the store `local`: log lines when it cannot be used, and a check whether it will be usable.
 *
 * @module
 */

import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config, ConfigProblem, LoadedConfig } from '@sallyport/config';
import type { Log } from '@sallyport/server/observe';
import { logChanges } from '../observe/log-changes.ts';
import { sourceOf } from './setting-source.ts';

const SETTING = 'stateDirectory';
const VARIABLE = 'SALLYPORT_STATE_DIRECTORY';

/** What the file system says of a folder that is not there, or not for this user. */
const FOLDER_CODES: ReadonlySet<unknown> = new Set([
  'EACCES',
  'EEXIST',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'EROFS',
]);

/**
 * Creates the log of the store's file: a line for each reason why it cannot be opened, not for each attempt,
 * and one when it opens again.
 *
 * @returns Takes the cause of a failure; nothing when the file was opened.
 */
export function logLocalStore(
  { stateDirectory }: Pick<Config, 'stateDirectory'>,
  log: Log,
): (cause?: unknown) => void {
  return logChanges(
    (failure, cause) =>
      log('error', 'session_store_unusable', {
        failure,
        key: SETTING,
        folder: stateDirectory,
        detail: FOLDER_CODES.has(codeOf(cause))
          ? `make the folder, writable for the user of this process, or name another with ${VARIABLE} or ${SETTING}`
          : undefined,
      }),
    () => log('info', 'session_store_connected'),
  );
}

/**
 * Checks whether this user could make or write the folder, and makes nothing. Only a warning, because the
 * server may run as another user.
 *
 * @param file - Path of the configuration file, when there is one.
 *
 * @returns What to warn of.
 */
export function checkLocalStore(
  { config, origins }: LoadedConfig,
  file: string | undefined,
): readonly ConfigProblem[] {
  const { stateDirectory, session, server } = config;
  if (session.store !== 'local' || !server.security.useAuth) return [];
  const code = whyNotWritable(stateDirectory);
  if (code === undefined) return [];
  return [
    {
      file: sourceOf(origins, SETTING, file),
      line: undefined,
      key: SETTING,
      variable: VARIABLE,
      found: `${JSON.stringify(stateDirectory)}, which this user cannot make or write (${code})`,
      expected: 'a folder that the user of the service can write',
    },
  ];
}

/**
 * Looks whether this user could make or write a folder, and makes nothing.
 *
 * @returns The code of what is in the way, such as `EACCES`; `undefined` when nothing is.
 */
export function whyNotWritable(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return 'ENOTDIR';
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (cause) {
    const code = codeOf(cause);
    const parent = dirname(folder);
    // It would be made, with every folder above that is missing.
    if (code === 'ENOENT' && parent !== folder) return whyNotWritable(parent);
    return typeof code === 'string' ? code : 'unknown';
  }
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}
