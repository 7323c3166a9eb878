/**
 * Files of clients and services, as the doctor looks at them.
 *
 * @module
 */

import { type ClientBlock, loadClientSettings } from '@sallyport/client';
import { readClientConfig } from '@sallyport/config';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import type { ClientSubject } from '@sallyport/doctor';
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

/** Reads every block that each file has. A file that cannot be read is a failure of the command. */
export function readClientSubjects(
  paths: readonly string[],
  environment: Environment,
): Result<readonly ClientSubject[], Failure> {
  const subjects: ClientSubject[] = [];
  for (const path of paths) {
    const read = readBoundedFile(path, TERMS);
    if (!read.ok)
      return refuse({
        error: 'invalid_configuration',
        description: `${withoutUnprintable(path)}: found ${read.error.found}, expected a readable YAML file`,
        hint: '',
        exitCode: EXIT.failure,
      });
    subjects.push(...readBlocks({ path, text: read.value }, environment));
  }
  return accept(subjects);
}

function readBlocks(
  file: { readonly path: string; readonly text: string },
  env: Environment,
): readonly ClientSubject[] {
  const { isGiven } = readClientConfig({ file, env: {}, flags: {}, variables: new Map() });
  return BLOCKS.filter(isGiven).map((block) => {
    const loaded = loadClientSettings({ file, env, flags: {}, block, findsPerson: true });
    return loaded.ok
      ? {
          file: file.path,
          block,
          settings: loaded.value.settings,
          problems: [],
          warnings: loaded.value.warnings,
        }
      : { file: file.path, block, settings: undefined, problems: loaded.error, warnings: [] };
  });
}
