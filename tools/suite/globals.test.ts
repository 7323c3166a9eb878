import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { describeGlobals, differencesOf } from './globals.ts';

/** What differs after a change that is taken back at the end of the test. */
function leaksOf(change: () => void, takeBack: () => void): readonly string[] {
  const before = describeGlobals();
  onTestFinished(takeBack);
  change();
  return differencesOf(before, describeGlobals());
}

const NAME = 'SALLYPORT_TEST_OF_LEAKS';

describe('What a test file leaves behind', () => {
  it('is nothing when nothing changed', () => {
    expect(differencesOf(describeGlobals(), describeGlobals())).toEqual([]);
  });

  it.each<[string, () => void, () => void, string]>([
    [
      'a variable of the environment',
      () => (process.env[NAME] = 'x'),
      () => delete process.env[NAME],
      `process.env.${NAME}`,
    ],
    [
      'a time zone',
      () => vi.stubEnv('TZ', 'Pacific/Apia'),
      () => vi.unstubAllEnvs(),
      'process.env.TZ',
    ],
    [
      'a listener of the process',
      () => void process.on('SIGUSR2', ignore),
      () => void process.off('SIGUSR2', ignore),
      'listeners for SIGUSR2 of the process',
    ],
    [
      'another Response',
      () => void vi.stubGlobal('Response', ignore),
      () => void vi.unstubAllGlobals(),
      'globalThis.Response',
    ],
    [
      'a clock that stands still',
      () => void vi.useFakeTimers({ toFake: ['Date'] }),
      () => void vi.useRealTimers(),
      'globalThis.Date',
    ],
    [
      'a spy',
      () => void vi.spyOn(DatabaseSync.prototype, 'exec'),
      () => void vi.restoreAllMocks(),
      'DatabaseSync.exec',
    ],
    ['a umask', () => void process.umask(0o077), () => void process.umask(0o022), 'the umask'],
  ])('%s is found', (_, change, takeBack, leak) => {
    expect(leaksOf(change, takeBack)).toEqual([leak]);
  });
});

function ignore(): void {}
