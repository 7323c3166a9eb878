import { createPinoLog } from '@sallyport/server';
import { describe, expect, it } from 'vitest';
import { createLineLog } from './line-log.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
/** An event of each level. */
const EVENTS = [
  ['debug', 'rate_limited'],
  ['info', 'stopping'],
  ['warn', 'worker_killed'],
  ['error', 'worker_failed'],
  ['audit', 'session_begun'],
] as const;
const LEVELS = EVENTS.map(([level]) => level);

function linesOf(threshold: Parameters<typeof createLineLog>[0]): string[] {
  const lines: string[] = [];
  const log = createLineLog(
    threshold,
    () => NOW,
    (line) => lines.push(line),
  );
  for (const [level, event] of EVENTS) log(level, event, { worker: 2, pid: undefined });
  return lines;
}

describe('a line of the log without a library', () => {
  it("is one of the service's own log, but for the time", () => {
    const own: string[] = [];
    const log = createPinoLog('trace', { write: (line) => own.push(line) });
    for (const [level, event] of EVENTS) log(level, event, { worker: 2, pid: undefined });
    const timeless = (line: string) => line.replace(/"time":"[^"]+"/, '"time":""');
    expect(linesOf('trace').map(timeless)).toEqual(own.map(timeless));
  });

  it('has the time it is given', () => {
    expect(JSON.parse(linesOf('error')[0] ?? '')).toEqual({
      level: 'error',
      time: '2026-01-02T03:04:05.678Z',
      event: 'worker_failed',
      worker: 2,
    });
  });

  it.each([
    ['trace', LEVELS],
    ['info', ['info', 'warn', 'error', 'audit']],
    ['warn', ['warn', 'error', 'audit']],
    ['fatal', ['audit']],
    ['silent', []],
  ] as const)('is written from %s on', (threshold, levels) => {
    const written = linesOf(threshold).map(
      (line) => (JSON.parse(line) as { readonly level: string }).level,
    );
    expect(written).toEqual(levels);
  });
});
