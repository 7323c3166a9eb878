import type { ConfigProblem } from '@sallyport/config';
import type { Log } from '@sallyport/server/observe';
import { describe, expect, it } from 'vitest';
import { logReload } from './log-reload.ts';
import type { ReloadOutcome } from './reloads.ts';

const WARNING: ConfigProblem = {
  file: 'core.yaml',
  line: 3,
  key: 'a.b',
  found: '1',
  expected: '2',
};
const loaded = (warnings: readonly ConfigProblem[]) =>
  ({ event: 'configuration_loaded', reason: 'signal', changed: [], warnings }) as const;

function linesOf(outcome: ReloadOutcome, event: string) {
  const lines: unknown[] = [];
  const log: Log = (level, name, fields) => {
    if (name === event) lines.push({ level, ...fields });
  };
  logReload(log, 'core.yaml', outcome);
  return lines;
}

describe('The log of a reload', () => {
  it('holds the warnings of a configuration that took effect, and none when there are none', () => {
    expect(linesOf(loaded([WARNING]), 'configuration')).toEqual([
      { level: 'warn', problem: 'core.yaml:3: a.b: found 1, expected 2' },
    ]);
    expect(linesOf(loaded([]), 'configuration')).toEqual([]);
  });

  it.each([
    [
      ['access.groups', 'rateLimit.perMinute'],
      ['access.groups', 'rateLimit.perMinute'],
    ],
    [[], []],
    [undefined, null],
  ])('lists the keys that changed, and null where they are not known: %j', (changed, logged) => {
    const refused = { event: 'configuration_refused', reason: 'signal', problem: 'no' } as const;
    const outcome = changed === undefined ? refused : { ...refused, changed };
    expect(linesOf(outcome, 'configuration_refused')).toMatchObject([{ changed: logged }]);
  });

  it('says that the file is good again, and nothing of a refusal or a load', () => {
    const again = { event: 'configuration_good_again', reason: 'file_changed' } as const;
    expect(linesOf(again, 'configuration_good_again')).toEqual([
      {
        level: 'info',
        reason: 'file_changed',
        detail: 'the file holds the configuration in effect again',
      },
    ]);
    for (const event of ['configuration_kept', 'configuration_refused', 'configuration_loaded'])
      expect(linesOf(again, event)).toEqual([]);
  });

  it('says as an error that workers may differ, and only then', () => {
    const mixed = { event: 'configuration_mixed', reason: 'signal', problem: 'no' } as const;
    expect(linesOf(mixed, 'configuration_mixed')).toMatchObject([
      { level: 'error', reason: 'signal', problem: 'no' },
    ]);
    const restored = { event: 'configuration_restored', reason: 'signal' } as const;
    expect(linesOf(restored, 'configuration_mixed')).toEqual([]);
    expect(linesOf(restored, 'configuration_restored')).toEqual([
      { level: 'info', reason: 'signal' },
    ]);
  });
});
