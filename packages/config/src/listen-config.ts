/**
 * Where `serve` listens, without the rest of its configuration.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Config } from './config.ts';
import { readConfigFile } from './file/read-config-file.ts';
import { buildConfig } from './load-config.ts';
import { type ConfigProblem, orderProblems } from './problems.ts';
import { type ConfigSources, resolveSettings } from './resolve-settings.ts';
import { isWithin } from './schema/schema.ts';

/** The settings that name the place. */
export interface ListenConfig extends Pick<Config, 'listen'> {
  readonly server: Pick<Config['server'], 'listen'>;
}

const KEYS: readonly string[] = ['listen.host', 'listen.port', 'server.listen'];

/**
 * Reads the place from the sources of `serve`. Checks only the keys that name it: a service goes on running with
 * its last valid configuration while another key of the file is wrong.
 *
 * @param sources - File, environment and flags; all untrusted.
 *
 * @returns Otherwise the problems of these keys, or why the file is not readable.
 */
export function readListenConfig(
  sources: ConfigSources,
): Result<ListenConfig, readonly ConfigProblem[]> {
  const file = readConfigFile(sources.file ?? { path: '', text: '' });
  const { values, unsound, problems } = resolveSettings(sources, file);
  if (KEYS.some((key) => unsound.has(key))) {
    const found = [...file.problems, ...problems].filter(
      ({ key }) => !file.isReadable || KEYS.some((own) => isWithin(own, key)),
    );
    return refuse(orderProblems(found));
  }
  const { listen, server } = buildConfig(values);
  return accept({ listen, server: { listen: server.listen } });
}
