import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeMissing } from './required-programs.ts';

/** A folder with programs of these names. */
function folderOf(...names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-programs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of names) writeFileSync(join(folder, name), '', { mode: 0o755 });
  return folder;
}

const ALL = ['buildah', 'mmdebstrap', 'mmtarfilter', 'eu-strip'] as const;

describe('What building an image needs', () => {
  it('is there with all programs, in whatever folders of the PATH, and root', () => {
    const [first, ...others] = ALL;
    expect(describeMissing(`${folderOf(first)}:${folderOf(...others)}`, 0)).toBeUndefined();
  });

  it('names each missing package once', () => {
    expect(describeMissing(folderOf('buildah'), 0)).toBe(
      'npm run image needs more programs: apt-get install mmdebstrap elfutils',
    );
  });

  it('asks for root', () => {
    expect(describeMissing(folderOf(...ALL), 1_000)).toBe('npm run image has to run as root');
  });
});
