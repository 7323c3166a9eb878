/**
 * The commit that a build is made from.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { CHECKOUT } from './layout.ts';

/**
 * Reads it from git.
 *
 * @returns The commit's full name, with `-modified` when tracked files differ from it. `undefined` where the
 *   sources are in no git repository, or git is not installed.
 */
export function readGitHead(): string | undefined {
  try {
    const head = git('rev-parse', 'HEAD');
    const isModified = git('status', '--porcelain', '--untracked-files=no') !== '';
    return isModified ? `${head}-modified` : head;
  } catch {
    return undefined;
  }
}

/** Reads the commit's time, RFC 3339; the epoch where there is no commit. */
export function readCommitTime(): string {
  try {
    return new Date(git('show', '--no-patch', '--format=%cI', 'HEAD')).toISOString();
  } catch {
    return new Date(0).toISOString();
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: CHECKOUT, encoding: 'utf8', stdio: 'pipe' }).trim();
}
