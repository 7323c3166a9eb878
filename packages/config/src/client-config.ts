/**
 * The blocks that clients and internal services read, from their sources.
 *
 * @module
 */

import type { Config } from './config.ts';
import { readConfigFile } from './file/read-config-file.ts';
import { buildConfig } from './load-config.ts';
import type { ConfigProblem } from './problems.ts';
import {
  type ConfigSources,
  type ResolvedSettings,
  resolveSettings,
  type SettingVariable,
} from './resolve-settings.ts';
import { findPlainHttp, listClientUrls, PLAIN_HTTP_KEY } from './rules/plain-http.ts';
import { findSwitchedOff, MEANT_SO } from './rules/service-app.ts';
import { findUnknownVariables } from './unknown-variables.ts';

/** Sources of a client's configuration. */
export interface ClientConfigSources extends ConfigSources {
  /** Environment variables by dotted key; a key without an entry has none, whatever `serve` reads. */
  readonly variables: ReadonlyMap<string, readonly SettingVariable[]>;
}

/** What the sources give: values for the client's own rules to judge. */
export interface ClientConfig
  extends Pick<ResolvedSettings, 'origins' | 'unsound' | 'placeOf' | 'isGiven'> {
  readonly config: Pick<
    Config,
    | 'admin'
    | 'dangerouslyAllowPlainHttpTo'
    | 'executions'
    | 'secrets'
    | 'server'
    | 'union'
    | 'unionAuth'
  >;
  /** In no order yet: the caller adds its own and sorts them by `orderProblems`. */
  readonly problems: readonly ConfigProblem[];
  /** What weakens; in no order yet, as above. */
  readonly warnings: readonly ConfigProblem[];
  /** What the file switches off that other services of its chart need. */
  readonly switchedOff: readonly ConfigProblem[];
}

/** Blocks at the top of a client's file that belong to other programs reading the same file. */
const FOREIGN_BLOCKS: ReadonlySet<string> = new Set([
  'console',
  'files',
  'image',
  'images',
  'local',
  'logger',
  'project',
  'root',
  'storage',
  'task',
]);

/**
 * Reads the client's blocks.
 *
 * Checks every given setting, blocks of `serve` in the same file included. Missing settings of `serve` are
 * not reported, because a client's file need not have them. Reads no file.
 *
 * @param sources - File, environment and flags; all untrusted.
 */
export function readClientConfig(sources: ClientConfigSources): ClientConfig {
  const file = readConfigFile(sources.file ?? { path: '', text: '' }, FOREIGN_BLOCKS);
  const resolved = resolveSettings(sources, file, ({ key }) => sources.variables.get(key) ?? []);
  const { admin, auth, dangerouslyAllowPlainHttpTo, executions, secrets, server, ...rest } =
    buildConfig(resolved.values);
  const { union, unionAuth } = rest;
  const { origins, unsound, placeOf, isGiven } = resolved;
  const problems = [...file.problems, ...resolved.problems];
  const warnings: ConfigProblem[] = auth.separateServiceApps
    ? []
    : resolved.yielded.map((problem) => ({
        ...problem,
        expected: `${problem.expected}, ${MEANT_SO}`,
      }));
  warnings.push(...findUnknownVariables(sources.env));
  const plainHttp = unsound.has(PLAIN_HTTP_KEY)
    ? []
    : findPlainHttp(listClientUrls({ admin, executions, union }), dangerouslyAllowPlainHttpTo);
  for (const { isWarning, ...finding } of plainHttp)
    (isWarning === true ? warnings : problems).push({ ...placeOf(finding.key), ...finding });
  const switchedOff = findSwitchedOff({ secrets, unionAuth })
    .filter(({ key }) => !unsound.has(key) && origins.get(key) !== 'default')
    .map(({ key, found, expected }) => ({ ...placeOf(key), key, found, expected }));
  return {
    config: { admin, dangerouslyAllowPlainHttpTo, executions, secrets, server, union, unionAuth },
    problems,
    warnings,
    switchedOff,
    origins,
    unsound,
    placeOf,
    isGiven,
  };
}
