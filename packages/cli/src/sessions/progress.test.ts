import { describe, expect, it } from 'vitest';
import { createProgress } from './progress.ts';

function start(isTTY: boolean) {
  let now = 1_000;
  let written = '';
  const output = { isTTY, columns: 80, write: (text: string) => (written += text) };
  const progress = createProgress(output, () => now);
  return { progress, written: () => written, pass: (ms: number) => (now += ms) };
}

describe('progress', () => {
  it('shows nothing of what is done at once', () => {
    const { progress, written, pass } = start(true);
    progress.count(1);
    pass(399);
    progress.count(12_345);
    progress.clear();
    expect(written()).toBe('');
  });

  it('shows what takes longer, and takes it away', () => {
    const { progress, written, pass } = start(true);
    pass(400);
    progress.count(1);
    progress.count(12_345);
    expect(written()).toContain('reading sessions: 12,345');
    progress.clear();
    expect(written().endsWith('\r\u001b[2K\u001b[?25h')).toBe(true);
  });

  it('shows nothing elsewhere than on a terminal', () => {
    const { progress, written, pass } = start(false);
    pass(10_000);
    progress.count(1);
    progress.clear();
    expect(written()).toBe('');
  });
});
