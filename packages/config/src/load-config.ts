/**
 * From sources to a configuration, or to everything that is wrong with them.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Config } from './config.ts';
import { readConfigFile } from './file/read-config-file.ts';
import { type ConfigProblem, orderProblems } from './problems.ts';
import {
  type ConfigSources,
  type Origin,
  type ResolvedSettings,
  resolveSettings,
} from './resolve-settings.ts';
import { RULES } from './rules/rules.ts';
import { type Consumer, FOREIGN_BLOCKS, type PlacedSetting, SETTINGS } from './schema/schema.ts';
import { findUnknownVariables } from './unknown-variables.ts';

/** A configuration that can be used. */
export interface LoadedConfig {
  readonly config: Config;
  /** What weakens or will fail elsewhere; nothing here keeps the configuration from being used. */
  readonly warnings: readonly ConfigProblem[];
  /** Blocks of the file or of flags that were checked and that this command does not read. */
  readonly notUsedHere: readonly string[];
  /** Which source gave each key. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/**
 * Loads a configuration.
 *
 * Reads no file: secret files are only named by it (see `openSecretFile`). Everything given is
 * checked, blocks of other commands included. A file that is not YAML hides what it would have
 * given, so nothing is then said about missing keys and contradictions.
 *
 * @param sources - File, environment and flags; all untrusted.
 * @param consumer - The command that loads the configuration. Only affects which blocks are reported as unused.
 *
 * @returns The configuration, frozen. Otherwise every problem, in the order to correct them: the
 *   caller MUST NOT start.
 */
export function loadConfig(
  sources: ConfigSources,
  consumer: Consumer,
): Result<LoadedConfig, readonly ConfigProblem[]> {
  const file = readConfigFile(sources.file ?? { path: '', text: '' });
  const resolved = resolveSettings(sources, file);
  resolveMetadataUrl(resolved.values);
  const config = buildConfig(resolved.values);
  const missing = SETTINGS.filter((placed) => isMissing(placed, resolved, config)).map((placed) =>
    toMissing(placed, resolved),
  );
  const { problems, warnings } = judge(config, resolved, missing);
  const all = [...file.problems, ...resolved.problems, ...missing, ...problems];
  if (all.length > 0) return refuse(orderProblems(all));
  return accept({
    config,
    warnings: orderProblems([...warnings, ...findUnknownVariables(sources.env)]),
    notUsedHere: [...FOREIGN_BLOCKS[consumer], ...listUnusedBlocks(config)].filter(
      resolved.isGiven,
    ),
    origins: resolved.origins,
  });
}

/** Blocks that this configuration itself makes no use of. */
function listUnusedBlocks({ session }: Config): readonly string[] {
  return session.store === 'redis' ? [] : ['session.redis'];
}

function isMissing(
  { key, setting }: PlacedSetting,
  { origins, unsound, isGiven, values }: ResolvedSettings,
  config: Config,
): boolean {
  if (values.get(key) !== '' || origins.get(key) !== 'default' || unsound.has(key)) return false;
  const { required } = setting;
  if (required === undefined) return false;
  switch (required) {
    case 'always':
      return true;
    case 'with-auth':
      return config.server.security.useAuth && !unsound.has('server.security.useAuth');
    case 'with-block': {
      const block = key.slice(0, key.lastIndexOf('.'));
      return isGiven(block) && values.get(`${block}.enable`) !== false;
    }
  }
}

function toMissing({ key, setting }: PlacedSetting, { placeOf }: ResolvedSettings): ConfigProblem {
  const { kind, variable } = setting;
  const expected =
    variable === undefined ? kind.expected : `${kind.expected}, here or in ${variable}`;
  return { ...placeOf(key), key, found: 'nothing', expected };
}

function judge(
  config: Config,
  { unsound, origins, isGiven, placeOf }: ResolvedSettings,
  missing: readonly ConfigProblem[],
): { readonly problems: ConfigProblem[]; readonly warnings: ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const isJudged = (key: string): boolean =>
    !unsound.has(key) && !missing.some((problem) => problem.key === key);
  const originOf = (key: string): Origin => origins.get(key) ?? 'default';
  for (const rule of RULES) {
    if (!rule.keys.every(isJudged)) continue;
    for (const { isWarning, ...finding } of rule.check({ config, originOf, isGiven }))
      (isWarning === true ? warnings : problems).push({ ...placeOf(finding.key), ...finding });
  }
  return { problems, warnings };
}

/** A metadata address may be relative to the issuer, as existing deployments have it. */
function resolveMetadataUrl(values: Map<string, unknown>): void {
  const key = 'auth.appAuth.externalAuthServer.metadataUrl';
  const relative = String(values.get(key));
  const issuer = String(values.get('auth.appAuth.externalAuthServer.baseUrl'));
  const url = URL.parse(relative, issuer.endsWith('/') ? issuer : `${issuer}/`);
  if (relative !== '' && url !== null) values.set(key, url.href);
}

/** Puts values under their names, frozen. The schema's type is made from `Config`, so nothing is left out. */
export function buildConfig(values: ReadonlyMap<string, unknown>): Config {
  const root: Record<string, unknown> = {};
  for (const { key, path, setting } of SETTINGS) {
    let block = root;
    for (const name of path.slice(0, -1)) {
      block[name] ??= {};
      block = block[name] as Record<string, unknown>;
    }
    const suffix = setting.kind.unit === 'milliseconds' ? 'Ms' : '';
    block[`${path.at(-1)}${suffix}`] = values.get(key);
  }
  return deepFreeze(root) as unknown as Config;
}

function deepFreeze(value: Record<string, unknown>): Record<string, unknown> {
  for (const child of Object.values(value))
    if (typeof child === 'object' && child !== null) deepFreeze(child as Record<string, unknown>);
  return Object.freeze(value);
}
