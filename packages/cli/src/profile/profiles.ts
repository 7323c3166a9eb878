/**
 * The profiles there are, and the one a command is about.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';
import { type SelectedProfile, selectProfile } from './profile.ts';
import {
  type ProfileFile,
  parseProfileFile,
  parseProjectFile,
  type TextFile,
} from './profile-file.ts';
import type { Sources } from './sources.ts';

/** Profiles of a person, as the files have them. */
export interface Profiles {
  readonly names: readonly string[];
  readonly selected: SelectedProfile;
  readonly settingsOf: (name: string) => TextFile;
}

const NONE: ProfileFile = {
  selected: undefined,
  names: [],
  settingsOf: () => ({ path: '', text: '' }),
};

/**
 * Reads both files and selects.
 *
 * @param mayBeNew - Whether option or variable may name a profile that is not there yet.
 */
export function readProfiles(
  { options, environment, userFile, projectFile, problem }: Sources,
  mayBeNew: boolean = options.endpoint !== undefined,
): Result<Profiles, Failure> {
  if (problem !== '') return refuse(invalid(problem));
  const file = userFile === undefined ? accept(NONE) : parseProfileFile(userFile);
  if (!file.ok) return refuse(invalid(file.error));
  const project = projectFile === undefined ? accept(undefined) : parseProjectFile(projectFile);
  if (!project.ok) return refuse(invalid(project.error));
  const { names, selected: user, settingsOf } = file.value;
  const selected = selectProfile(
    {
      flag: options.profile,
      variable: environment['SALLYPORT_PROFILE'],
      project: project.value,
      user,
      known: names,
    },
    mayBeNew,
  );
  if (!selected.ok) return refuse(invalid(selected.error));
  return accept({ names, selected: selected.value, settingsOf });
}

function invalid(description: string): Failure {
  return { error: 'invalid_configuration', description, hint: '', exitCode: EXIT.failure };
}
