import { describe, expect, it } from 'vitest';
import { logChanges } from './log-changes.ts';

function begin() {
  const said: string[] = [];
  const tell = logChanges(
    (failure) => said.push(failure),
    () => said.push('restored'),
  );
  return { said, tell };
}

const failure = (code: string) => Object.assign(new Error('words'), { code });

describe('What fails again and again', () => {
  it('is reported once for each reason, and once when it is well again', () => {
    const { said, tell } = begin();
    for (const code of ['EACCES', 'EACCES', 'ENOSPC', 'ENOSPC']) tell(failure(code));
    tell();
    tell();
    tell(failure('ENOSPC'));
    expect(said).toEqual([
      'Error EACCES: words',
      'Error ENOSPC: words',
      'restored',
      'Error ENOSPC: words',
    ]);
  });

  it('is not told where nothing failed', () => {
    const { said, tell } = begin();
    tell();
    expect(said).toEqual([]);
  });
});
