/**
 * Why the file of the audit stream cannot be opened, in words for the operator.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';

/** What each error of `open` means for a file that is appended to, and what to do. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such folder; make it, and let this user write in it'],
  ['EACCES', 'permission denied; let this user write the file, and in its folder'],
  ['EPERM', 'permission denied; let this user write the file, and in its folder'],
  ['EISDIR', 'it is a folder; name a file in it'],
  ['ENOTDIR', 'a part of its path is a file and no folder'],
  ['ENXIO', 'it is a pipe without a reader, or a socket; start what reads the pipe first'],
  ['EROFS', 'the disk is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['ELOOP', 'its symbolic links go round'],
]);

/**
 * Says which file cannot be used and why.
 *
 * @param mayCreate - Whether it would have been made: else it is the file itself that is missing.
 *
 * @returns `SP_AUDIT_UNUSABLE`, which names the path.
 */
export function auditFileUnusable(
  path: string,
  mayCreate: boolean,
  cause: unknown,
): SallyportError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  const reason =
    code === 'ENOENT' && !mayCreate
      ? 'no such file; the service makes it when it starts'
      : (REASONS.get(code) ?? `the system says ${code}`);
  return new SallyportError('SP_AUDIT_UNUSABLE', {
    component: path,
    detail: `observe.audit.file cannot be opened for appending: ${reason}`,
    cause,
  });
}
