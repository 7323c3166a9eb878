import { describe, expect, it } from 'vitest';
import { logChanges } from './log-changes.ts';

function begin() {
  const said: string[] = [];
  const report = logChanges(
    (failure) => said.push(failure),
    () => said.push('restored'),
  );
  return { said, report };
}

const failure = (code: string) => Object.assign(new Error('words'), { code });

describe('What fails again and again', () => {
  it('is reported once for each reason, and once when it is well again', () => {
    const { said, report } = begin();
    for (const code of ['EACCES', 'EACCES', 'ENOSPC', 'ENOSPC']) report(failure(code));
    report();
    report();
    report(failure('ENOSPC'));
    expect(said).toEqual([
      'Error EACCES: words',
      'Error ENOSPC: words',
      'restored',
      'Error ENOSPC: words',
    ]);
  });

  it('is not reported where nothing failed', () => {
    const { said, report } = begin();
    report();
    expect(said).toEqual([]);
  });
});
