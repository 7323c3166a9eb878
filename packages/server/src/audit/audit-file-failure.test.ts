import { describe, expect, it } from 'vitest';
import { auditFileUnusable } from './audit-file-failure.ts';

const PATH = '/var/log/sallyport/audit.jsonl';
const said = (code: string, mayCreate = true) =>
  auditFileUnusable(PATH, mayCreate, Object.assign(new Error('x'), { code })).message;

describe('auditFileUnusable', () => {
  it.each([
    ['EACCES', 'permission denied; let this user write the file, and in its folder'],
    ['EROFS', 'the disk is read-only'],
    ['EMFILE', 'the system says EMFILE'],
  ])('says in words what %s is', (code, reason) => {
    expect(said(code)).toBe(
      `SP_AUDIT_UNUSABLE (${PATH}): observe.audit.file cannot be opened for appending: ${reason}`,
    );
  });

  it('takes a missing file for a missing folder only where the file would have been made', () => {
    expect(said('ENOENT')).toContain('no such folder');
    expect(said('ENOENT', false)).toContain('no such file');
  });
});
