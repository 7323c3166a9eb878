import { describe, expect, it } from 'vitest';
import { formatFailures } from './failures.ts';

const FILE = { project: 'unit', path: 'a.test.ts' };

describe('The failures of a run', () => {
  it('are named by project, file and title, with the first line of the first error', () => {
    const errors = [{ message: 'expected 1 to be 2\n\n- 1\n+ 2' }, { message: 'another' }];
    expect(formatFailures([{ ...FILE, title: 'A door > admits', errors }], [])).toEqual([
      'failed: unit  a.test.ts  A door > admits',
      '  expected 1 to be 2',
    ]);
  });

  it('include files that failed as a whole, and errors outside of any test', () => {
    const errors = [{ message: 'this file leaves behind: umask' }];
    expect(formatFailures([{ ...FILE, title: '', errors }], [{ message: 'late' }])).toEqual([
      'failed: unit  a.test.ts',
      '  this file leaves behind: umask',
      'failed: outside of any test',
      '  late',
    ]);
  });

  it('say nothing of an error without a message, and keep a long one short', () => {
    const title = 'A door';
    expect(formatFailures([{ ...FILE, title, errors: [] }], [])).toHaveLength(1);
    const [, line = ''] = formatFailures(
      [{ ...FILE, title, errors: [{ message: 'a'.repeat(9_999) }] }],
      [],
    );
    expect(line).toHaveLength(302);
  });

  it('are none when nothing failed', () => {
    expect(formatFailures([], [])).toEqual([]);
  });
});
