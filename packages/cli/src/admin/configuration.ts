/**
 * Reading the configuration for a command, and saying what is wrong with it.
 *
 * @module
 */

import { readFileSync, statSync } from 'node:fs';
import {
  type ConfigProblem,
  type ConfigSources,
  formatConfigProblem,
  type InjectionConfig,
  type ListenConfig,
  type LoadedConfig,
  loadConfig,
  readInjectionConfig,
  readListenConfig,
} from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Stdio } from '../terminal/stdio.ts';
import { describeFile } from './watch-file.ts';

/** Options every command with a configuration has. */
export interface ConfigurationOptions {
  readonly config?: string;
  readonly state?: string;
  readonly port?: number;
  readonly host?: string;
}

/** Reads file, environment and options. A file that cannot be read is a problem like any other. */
export function readConfiguration(
  options: ConfigurationOptions,
  environment: ConfigSources['env'],
): Result<LoadedConfig, readonly ConfigProblem[]> {
  const sources = readSources(options, environment);
  return sources.ok ? loadConfig(sources.value, 'serve') : sources;
}

/** Reads where the service of these options listens; see {@link readListenConfig} for what is not checked. */
export function readListenPlace(
  options: ConfigurationOptions,
  environment: ConfigSources['env'],
): Result<ListenConfig, readonly ConfigProblem[]> {
  const sources = readSources(options, environment);
  return sources.ok ? readListenConfig(sources.value) : sources;
}

/** Reads what is injected into task pods; see {@link readInjectionConfig} for what is not checked. */
export function readInjectionSettings(
  { config }: Pick<ConfigurationOptions, 'config'>,
  environment: ConfigSources['env'],
): Result<InjectionConfig, readonly ConfigProblem[]> {
  const sources = readSources(config === undefined ? {} : { config }, environment);
  return sources.ok ? readInjectionConfig(sources.value) : sources;
}

/** Gathers file, environment and options; nothing is checked yet but that the file can be read. */
function readSources(
  { config: path, state, port, host }: ConfigurationOptions,
  env: ConfigSources['env'],
): Result<ConfigSources, readonly ConfigProblem[]> {
  const flags = {
    ...(state === undefined ? {} : { stateDirectory: state }),
    ...(port === undefined ? {} : { 'listen.port': port }),
    ...(host === undefined ? {} : { 'listen.host': host }),
  };
  if (path === undefined) return accept({ env, flags });
  try {
    return accept({ file: { path, text: readFileSync(path, 'utf8') }, env, flags });
  } catch (error) {
    return refuseFile(path, describeUnreadable(error), 'a readable YAML file');
  }
}

function describeUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ENOENT':
      return 'no such file';
    case 'EISDIR':
      return 'a folder';
    case 'EACCES':
      return 'a file this user may not read';
    case '':
      return 'an unreadable file';
    default:
      return code;
  }
}

/** Reads the configuration of a running command again. */
export interface ConfigurationReader {
  /** Path of the configuration file, when there is one. */
  readonly file: string | undefined;
  /** How that file looked before anything was read, as `describeFile` says. */
  readonly known: string | undefined;
  /** Reads and checks all of it. The environment is the one the process was started with. */
  readonly read: () => Result<
    { readonly loaded: LoadedConfig; readonly sources: ConfigSources },
    readonly ConfigProblem[]
  >;
}

/**
 * Creates the reader for `serve`.
 *
 * Once the file has held settings, an empty file is a problem: a copy on a full disk leaves one, and without
 * access rules it would admit every account. So is a path that is no regular file any more: reading it might
 * block.
 */
export function createConfigurationReader(
  options: ConfigurationOptions,
  environment: ConfigSources['env'],
): ConfigurationReader {
  const { config: path } = options;
  let hasHeldSettings = false;
  return {
    file: path,
    known: path === undefined ? undefined : describeFile(path),
    read() {
      if (path !== undefined && hasHeldSettings && !isFile(path))
        return refuseFile(path, 'something that is no file', 'a readable YAML file');
      const sources = readSources(options, environment);
      if (!sources.ok) return sources;
      const isHolding = !isEmpty(sources.value.file?.text ?? '');
      if (path !== undefined && hasHeldSettings && !isHolding)
        return refuseFile(
          path,
          'nothing, or comments alone',
          'the settings it held; start the service again if it is to have none',
        );
      const loaded = loadConfig(sources.value, 'serve');
      if (!loaded.ok) return loaded;
      hasHeldSettings ||= isHolding;
      return accept({ loaded: loaded.value, sources: sources.value });
    },
  };
}

function isEmpty(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(?:#.*|---|\.\.\.)?\s*$/.test(line));
}

/** `true` also for a file that is missing: reading it reports that. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

function refuseFile(
  path: string,
  found: string,
  expected: string,
): Result<never, readonly ConfigProblem[]> {
  return refuse([{ file: path, line: undefined, key: '--config', found, expected }]);
}

/** The options of the command line, by the setting that each gives. */
const OPTIONS: Readonly<Record<string, string>> = {
  stateDirectory: '--state',
  'listen.port': '--port',
  'listen.host': '--host',
};

/** Names the option where a setting came by one. */
function nameOption(problem: ConfigProblem): ConfigProblem {
  return problem.file === 'flag'
    ? { ...problem, key: OPTIONS[problem.key] ?? problem.key }
    : problem;
}

/** Writes every problem on a line of its own, or all of them as JSON. */
export function reportProblems(
  problems: readonly ConfigProblem[],
  isJson: boolean,
  stdio: Stdio,
): void {
  if (isJson) {
    stdio.out(JSON.stringify({ ok: false, problems }, null, 2));
    return;
  }
  for (const problem of problems) stdio.error(formatConfigProblem(nameOption(problem)));
  stdio.error(
    problems.length === 1
      ? '1 problem; nothing was started.'
      : `${problems.length} problems; nothing was started.`,
  );
}
