/**
 * Who runs the command, for the audit log.
 *
 * @module
 */

import { userInfo } from 'node:os';

/** The operating system's word on it. */
export interface Operator {
  /** User name, or the number of a user without one. */
  readonly operator: string;
  /** Who became that user with sudo; it can be set to anything. */
  readonly sudo_user?: string;
}

/** Reads it. */
export function readOperator(environment: Readonly<Record<string, string | undefined>>): Operator {
  const { SUDO_USER: sudoUser = '' } = environment;
  return { operator: readUser(), ...(sudoUser === '' ? {} : { sudo_user: sudoUser }) };
}

/** A container may run as a number that no name belongs to. */
function readUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
