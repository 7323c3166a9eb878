/**
 * Files of clients and services, as the doctor looks at them.
 *
 * @module
 */

import { type ClientBlock, loadClientSettings } from '@sallyport/client';
import {
  type ClientConfig,
  type ConfigProblem,
  type LoadedConfig,
  readClientConfig,
} from '@sallyport/config';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import type { ClientSubject, Subject } from '@sallyport/doctor';
import { accept, type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import type { Environment } from '../profile/sources.ts';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';

const TERMS: FileTerms = { maxBytes: 524_288, mayBeLink: true, owner: 'any_user' };
const BLOCKS: readonly ClientBlock[] = [
  'admin',
  'union.auth',
  'executions.app.adminClient.connection',
];

/** The admin service's own file, which its services may share. */
export interface ServerFile {
  readonly path: string;
  /** Absent where it cannot be used; `problems` says why. */
  readonly loaded: LoadedConfig | undefined;
  readonly problems: readonly ConfigProblem[];
}

/**
 * Reads every block that each file has, and what it switches off for others. A file that cannot be read is a failure of the command.
 *
 * In the admin service's own file the platform's address is `publicUrl` where the block names none, and what is wrong
 * with that file already is not said once more for each block.
 */
export function readClientSubjects(
  server: ServerFile | undefined,
  paths: readonly string[],
  environment: Environment,
): Result<Pick<Subject, 'clients' | 'switchedOff'>, Failure> {
  const clients: ClientSubject[] = [];
  const switchedOff: ConfigProblem[] = [];
  for (const path of [...(server === undefined ? [] : [server.path]), ...paths]) {
    const read = readBoundedFile(path, TERMS);
    if (!read.ok)
      return refuse({
        error: 'invalid_configuration',
        description: `${withoutUnprintable(path)}: found ${read.error.found}, expected a readable YAML file`,
        hint: '',
        exitCode: EXIT.failure,
      });
    const ofServer = path === server?.path ? server : undefined;
    const file = { path, text: read.value };
    const config = readClientConfig({ file, env: {}, flags: {}, variables: new Map() });
    clients.push(...readBlocks(file, config, environment, ofServer));
    const known = new Set(ofServer?.loaded?.warnings.map(({ key }) => key));
    switchedOff.push(...config.switchedOff.filter(({ key }) => !known.has(key)));
  }
  return accept({ clients, switchedOff });
}

function readBlocks(
  file: { readonly path: string; readonly text: string },
  { isGiven }: ClientConfig,
  env: Environment,
  server: ServerFile | undefined,
): readonly ClientSubject[] {
  const endpointByDefault = server?.loaded?.config.publicUrl;
  return BLOCKS.filter(isGiven).flatMap((block): readonly ClientSubject[] => {
    const sources = { file, env, flags: {}, block, findsPerson: true, endpointByDefault };
    const loaded = loadClientSettings(sources);
    if (loaded.ok) {
      const { settings, warnings } = loaded.value;
      return [{ file: file.path, block, settings, problems: [], warnings }];
    }
    const problems = loaded.error.filter((problem) => !isKnown(problem, server));
    if (problems.length === 0) return [];
    return [{ file: file.path, block, settings: undefined, problems, warnings: [] }];
  });
}

/** Whether the admin service's file is to blame: by the same place, or because its `publicUrl` cannot be read. */
function isKnown(problem: ConfigProblem, server: ServerFile | undefined): boolean {
  const known = server?.problems ?? [];
  if (known.length > 0 && problem.key === 'admin.endpoint' && problem.found === 'nothing')
    return true;
  return known.some(
    ({ file, line, key }) => file === problem.file && line === problem.line && key === problem.key,
  );
}
