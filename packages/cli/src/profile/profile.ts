/**
 * Selects the profile of a command, and names what selected it.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';

/** Profile of the file's own `admin` block. */
export const DEFAULT_PROFILE = 'default';

/** A name, and where it was read. */
export interface NamedAt {
  readonly name: string;
  /** `--profile`, the name of a variable, or `file:line`. */
  readonly origin: string;
}

/** Everything that may name a profile. */
export interface ProfileClaims {
  /** From `--profile`. */
  readonly flag: string | undefined;
  /** From `SALLYPORT_PROFILE`; empty counts as absent. */
  readonly variable: string | undefined;
  /** From the project's file. */
  readonly project: NamedAt | undefined;
  /** From the person's file. */
  readonly user: NamedAt | undefined;
  /** Profiles there are. */
  readonly known: readonly string[];
}

/** The profile that won, and why. */
export interface SelectedProfile extends NamedAt {
  /** Whether it is in the person's file. One that is not has to be given its settings otherwise. */
  readonly isKnown: boolean;
  /** Whether only the project's file named it: then it decides nothing about credentials. */
  readonly isProjectChoice: boolean;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether text can name a profile. */
export function isProfileName(text: string): boolean {
  return NAME.test(text);
}

/**
 * Picks the profile: option, variable, the project's file, the person's file, the only one there is,
 * `default`. Nothing remembers a choice between commands.
 *
 * @param mayBeNew - Whether a profile that does not exist may be named by option or variable, as when
 *   signing in writes it.
 *
 * @returns The profile; otherwise one sentence that lists those there are.
 */
export function selectProfile(
  claims: ProfileClaims,
  mayBeNew: boolean,
): Result<SelectedProfile, string> {
  const { known, flag, variable, project, user } = claims;
  const claim =
    (flag === undefined ? undefined : { name: flag, origin: '--profile' }) ??
    (variable === undefined || variable === ''
      ? undefined
      : { name: variable, origin: 'SALLYPORT_PROFILE' }) ??
    project ??
    user;
  if (claim !== undefined) {
    const isKnown = known.includes(claim.name);
    const isOwnChoice = claim !== project && claim !== user;
    if (!isProfileName(claim.name))
      return refuse(`${claim.origin}: a profile is named with letters, digits, ".", "_" and "-"`);
    const isProjectChoice = claim === project;
    if (isKnown || (mayBeNew && isOwnChoice)) return accept({ ...claim, isKnown, isProjectChoice });
    const there = known.length === 0 ? 'there are none yet' : `there are: ${known.join(', ')}`;
    // The project's file may be another user's: its text is not repeated.
    const named = isProjectChoice ? 'of the name that stands there' : `"${claim.name}"`;
    return refuse(`${claim.origin}: there is no profile ${named}; ${there}`);
  }
  const [only] = known;
  if (only !== undefined && known.length === 1)
    return accept({
      name: only,
      origin: 'the only profile',
      isKnown: true,
      isProjectChoice: false,
    });
  return accept({
    name: DEFAULT_PROFILE,
    origin: 'nothing names another',
    isKnown: known.includes(DEFAULT_PROFILE),
    isProjectChoice: false,
  });
}
