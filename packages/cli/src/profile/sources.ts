/**
 * The inputs of a command as they are: options, variables, files.
 *
 * @module
 */

import { resolve } from 'node:path';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import { accept, type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import { nameCachedLogin } from './cached-login.ts';
import { type Folders, findFolders } from './folders.ts';
import type { TextFile } from './profile-file.ts';
import { findProjectFile } from './project-file.ts';

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

/** The inputs of a command. Nothing in them is checked. */
export interface Sources {
  readonly options: PlatformOptions;
  readonly environment: Environment;
  readonly folders: Folders;
  /** The person's file; `undefined` when there is none. */
  readonly userFile: TextFile | undefined;
  /** The project's file; `undefined` when there is none, or option or variable name a profile. */
  readonly projectFile: TextFile | undefined;
  /**
   * Why a file could not be read, a printable sentence; empty when all could. Then what they would
   * have said is not known, and no command may go on.
   */
  readonly problem: string;
}

/** The person's own: may be a link, as those who keep such files elsewhere have it. */
const OWN_TERMS: FileTerms = { maxBytes: 524_288, mayBeLink: true, owner: 'any_user' };
/** Variables that settings of a client may come from, in the spellings of all clients read. */
const SETTING_VARIABLE =
  /^_?(?:[A-Z0-9]+_(?:CREDENTIALS|PLATFORM|ADMIN|AUTH|API)_|EAGER_|SALLYPORT_|UNION_|_U_|UCTL_|FLYTE)/;
/** Variables that hold credentials of an application. */
const CREDENTIAL_VARIABLE = /(?:CREDENTIALS_CLIENT_ID|CREDENTIALS_CLIENT_SECRET|API_KEY)$/;

/** Reads the files. The project's file counts only where neither option nor variable names a profile. */
export function readSources(
  options: PlatformOptions,
  environment: Environment,
  folder: string = process.cwd(),
): Sources {
  const named = options.config ?? environment['SALLYPORT_CONFIG'] ?? '';
  const folders = findFolders(environment, named === '' ? '' : resolve(folder, named));
  const user = readUserFile(folders.configFile, named !== '');
  const isProfileNamed =
    options.profile !== undefined || (environment['SALLYPORT_PROFILE'] ?? '') !== '';
  const project = isProfileNamed ? accept(undefined) : findProjectFile(folder);
  return {
    options,
    environment,
    folders,
    userFile: user.ok ? user.value : undefined,
    projectFile: project.ok ? project.value : undefined,
    problem: user.ok ? (project.ok ? '' : project.error) : user.error,
  };
}

/**
 * Names the cached login of these sources: a change to any of them is another name.
 *
 * @param options - Instead of those the sources were read with.
 * @param userText - Instead of what the person's file held.
 */
export function nameSources(
  { environment, folders, userFile, projectFile, ...sources }: Sources,
  options: PlatformOptions = sources.options,
  userText: string | undefined = userFile?.text,
): string {
  // As when they were read with these options: a profile that is named leaves the project's file out.
  const project = options.profile === undefined ? projectFile : undefined;
  const variables = Object.entries(environment).filter(([name]) => SETTING_VARIABLE.test(name));
  return nameCachedLogin({
    ...Object.fromEntries(variables.map(([name, value]) => [`$${name}`, value])),
    '--profile': options.profile,
    '--endpoint': options.endpoint,
    '--ca-file': options.caFile,
    userPath: folders.configFile,
    userText,
    projectPath: project?.path,
    projectText: project?.text,
    tokens: folders.tokens,
  });
}

/** Whether a variable holds credentials of an application, whose tokens are kept nowhere. */
export function hasCredentialVariable(environment: Environment): boolean {
  return listCredentialVariables(environment).length > 0;
}

/** Names of the variables that hold credentials of an application. */
export function listCredentialVariables(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    CREDENTIAL_VARIABLE.test(name) && value !== undefined && value !== '' ? [name] : [],
  );
}

function readUserFile(path: string, isNamed: boolean): Result<TextFile | undefined, string> {
  const read = readBoundedFile(path, OWN_TERMS);
  const shown = withoutUnprintable(path);
  if (read.ok) return accept({ path: shown, text: read.value });
  if (read.error.reason === 'absent' && !isNamed) return accept(undefined);
  return refuse(
    `${shown}: found ${read.error.found}, expected a regular file of at most ${OWN_TERMS.maxBytes} bytes`,
  );
}
