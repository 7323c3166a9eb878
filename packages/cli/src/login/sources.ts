/**
 * Everything a command is told before it looks into any of it: options, variables, files.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Folders, findFolders } from './folders.ts';
import type { TextFile } from './profile-file.ts';
import { nameRecollection } from './recollection.ts';

/** Options every command that talks to a platform has. */
export interface PlatformOptions {
  readonly profile?: string;
  readonly config?: string;
  readonly endpoint?: string;
  readonly caFile?: string;
  readonly json?: boolean;
}

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command was told. Nothing of it is checked. */
export interface Sources {
  readonly options: PlatformOptions;
  readonly environment: Environment;
  readonly folders: Folders;
  /** The person's file; `undefined` when there is none. */
  readonly userFile: TextFile | undefined;
  /** The project's file, from here upwards; `undefined` when there is none. */
  readonly projectFile: TextFile | undefined;
}

/** Name of the file in a project that picks a profile. */
const PROJECT_FILE = '.sallyport.yaml';
/** Variables that settings of a client may come from, in the spellings of all clients read. */
const SETTING_VARIABLE =
  /^_?(?:[A-Z0-9]+_(?:CREDENTIALS|PLATFORM|ADMIN|AUTH|API)_|EAGER_|SALLYPORT_|UNION_|_U_|UCTL_|FLYTE)/;
/** Variables that hold credentials of an application. */
const CREDENTIAL_VARIABLE = /(?:CREDENTIALS_CLIENT_ID|CREDENTIALS_CLIENT_SECRET|API_KEY)$/;

/**
 * Reads the files there are. The project's file is looked for in the folder and those above it, up
 * to the root of its repository or the person's home.
 *
 * @throws {Error} With the system's code when a file is there but cannot be read, or a file that was
 *   named is not there.
 */
export function readSources(
  options: PlatformOptions,
  environment: Environment,
  folder: string = process.cwd(),
): Sources {
  const named = options.config ?? environment['SALLYPORT_CONFIG'] ?? '';
  const folders = findFolders(environment, named === '' ? '' : resolve(folder, named));
  const isThere = named !== '' || existsSync(folders.configFile);
  return {
    options,
    environment,
    folders,
    userFile: isThere ? readText(folders.configFile) : undefined,
    projectFile: findProjectFile(folder),
  };
}

/**
 * Names the recollection of these sources: a change to any of them is another name.
 *
 * @param options - Instead of those the sources were read with.
 * @param userText - Instead of what the person's file held.
 */
export function nameSources(
  { environment, folders, userFile, projectFile, ...sources }: Sources,
  options: PlatformOptions = sources.options,
  userText: string | undefined = userFile?.text,
): string {
  const variables = Object.entries(environment).filter(([name]) => SETTING_VARIABLE.test(name));
  return nameRecollection({
    ...Object.fromEntries(variables.map(([name, value]) => [`$${name}`, value])),
    '--profile': options.profile,
    '--endpoint': options.endpoint,
    '--ca-file': options.caFile,
    userPath: folders.configFile,
    userText,
    projectPath: projectFile?.path,
    projectText: projectFile?.text,
    tokens: folders.tokens,
  });
}

/** Whether a variable holds credentials of an application, whose tokens are kept nowhere. */
export function hasCredentialVariable(environment: Environment): boolean {
  return Object.entries(environment).some(
    ([name, value]) => CREDENTIAL_VARIABLE.test(name) && value !== undefined && value !== '',
  );
}

function findProjectFile(from: string): TextFile | undefined {
  const home = homedir();
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const path = join(folder, PROJECT_FILE);
    if (existsSync(path)) return readText(path);
    const isEnd = folder === home || folder === dirname(folder) || existsSync(join(folder, '.git'));
    if (isEnd) return undefined;
  }
}

function readText(path: string): TextFile {
  return { path, text: readFileSync(path, 'utf8') };
}
