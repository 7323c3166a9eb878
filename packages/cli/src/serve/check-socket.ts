/**
 * The place of the Unix socket that a configuration names, looked at before the service starts.
 *
 * @module
 */

import { basename, join } from 'node:path';
import type { ConfigProblem, LoadedConfig } from '@sallyport/config';
import { SallyportError } from '@sallyport/protocol';
import { whyNotWritable } from '../admin/local-store-folder.ts';
import { sourceOf } from '../admin/setting-source.ts';
import {
  createSocketErrors,
  look,
  readGroup,
  refuseOther,
  resolveSocketFolder,
} from './socket-place.ts';

const LISTEN = 'server.listen';
const GROUP = 'server.socketGroup';

/**
 * Checks the folder of the socket, what lies in its place, and its group, and makes nothing. Only warnings, because
 * the service may run as another user, and its folder be made when it starts. Not checked: whether another program
 * answers there, and whether the user is a member of the group.
 *
 * @param file - Path of the configuration file, when there is one.
 *
 * @returns What to warn of.
 */
export function checkSocket(
  { config, origins }: Pick<LoadedConfig, 'config' | 'origins'>,
  file: string | undefined,
): readonly ConfigProblem[] {
  const { listen, socketGroup: group } = config.server;
  if (listen === '') return [];
  const path = listen.slice('unix:'.length);
  const errors = createSocketErrors(path, LISTEN);
  const problem = (key: string, found: string, expected: string): ConfigProblem => ({
    file: sourceOf(origins, key, file),
    line: undefined,
    key,
    found,
    expected,
  });
  const ofPlace = whyRefused(LISTEN, () => {
    const folder = resolveSocketFolder(path, errors);
    refuseOther(look(join(folder, basename(path))), errors);
    const code = whyNotWritable(folder);
    if (code !== undefined) throw errors.failed(LISTEN, `this user cannot write there (${code})`);
  });
  const ofGroup = whyRefused(GROUP, () => group === '' || readGroup(group, errors));
  return [
    ...ofPlace.map((why) =>
      problem(LISTEN, JSON.stringify(listen), `a place that the service can use: ${why}`),
    ),
    ...ofGroup.map((why) =>
      problem(GROUP, JSON.stringify(group), `the name or number of a group: ${why}`),
    ),
  ];
}

/** The sentence of the refusal, without what it is about. */
function whyRefused(key: string, act: () => unknown): readonly string[] {
  try {
    act();
    return [];
  } catch (cause) {
    if (!(cause instanceof SallyportError)) throw cause;
    return [cause.message.split(`: ${key}: `).slice(1).join(': ')];
  }
}
