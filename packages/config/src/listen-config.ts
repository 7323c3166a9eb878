/**
 * Where `serve` listens, without the rest of its configuration.
 *
 * @module
 */

import { accept, type Result } from '@sallyport/protocol';
import type { Config } from './config.ts';
import { readKeys } from './part-config.ts';
import type { ConfigProblem } from './problems.ts';
import type { ConfigSources } from './resolve-settings.ts';

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
  const read = readKeys(sources, KEYS);
  if (!read.ok) return read;
  const { listen, server } = read.value;
  return accept({ listen, server: { listen: server.listen } });
}
