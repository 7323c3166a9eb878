import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createProcessTable } from './process-identity.ts';

describe('Process table', () => {
  const table = createProcessTable();

  it('this process has not ended', () => {
    expect(table.hasEnded(table.self)).toBe(false);
  });

  it('a process that was killed has', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    const { pid = 0 } = child;
    expect(table.hasEnded({ ...table.self, pid, startTime: '' })).toBe(false);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect(table.hasEnded({ ...table.self, pid, startTime: '' })).toBe(true);
  });

  it.skipIf(!existsSync('/proc/self/stat'))(
    'a number that is another process by now belongs to one that has ended (where there is /proc)',
    () => {
      expect(table.self.startTime).toMatch(/^\d+$/);
      expect(table.hasEnded({ ...table.self, startTime: '1' })).toBe(true);
    },
  );

  it('a process elsewhere is never known to have ended, nor is one whose start is not known', () => {
    expect(table.hasEnded({ ...table.self, pid: 2 ** 22 + 1, place: 'elsewhere' })).toBe(false);
    expect(table.hasEnded({ ...table.self, startTime: '' })).toBe(false);
  });
});
