/**
 * A part of the configuration, for commands that have no use for the rest.
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

/**
 * Reads some keys. Checks only these: another key of the file may be wrong, or missing.
 *
 * @param sources - File, environment and flags; all untrusted.
 *
 * @returns A configuration in which only these keys mean anything. Otherwise their problems, or why the file is not
 *   readable.
 */
export function readKeys(
  sources: ConfigSources,
  keys: readonly string[],
): Result<Config, readonly ConfigProblem[]> {
  const file = readConfigFile(sources.file ?? { path: '', text: '' });
  const { values, unsound, problems } = resolveSettings(sources, file);
  if (keys.some((key) => unsound.has(key))) {
    const found = [...file.problems, ...problems].filter(
      ({ key }) => !file.isReadable || keys.some((own) => isWithin(own, key)),
    );
    return refuse(orderProblems(found));
  }
  return accept(buildConfig(values));
}
