import { describe, expect, it } from 'vitest';
import type { LogLevel } from './log-events.ts';
import { createPinoLog, type LogThreshold } from './pino-log.ts';

function setup(threshold: LogThreshold) {
  const lines: string[] = [];
  const log = createPinoLog(threshold, { write: (line: string) => void lines.push(line) });
  return {
    log,
    lines,
    entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

/** An event of each level. */
const EVENTS = [
  ['debug', 'rate_limited'],
  ['info', 'stopping'],
  ['warn', 'worker_killed'],
  ['error', 'worker_failed'],
  ['audit', 'session_begun'],
] as const;

describe('createPinoLog', () => {
  it('writes one JSON line an event, to the stream it was given', () => {
    const { log, lines, entries } = setup('info');
    log('info', 'verdict', {
      subject: 'ada',
      session: 'AAAAAAAH',
      ok: true,
      absent: undefined,
    });
    log('warn', 'configuration');
    expect(lines.every((line) => line.endsWith('\n') && !line.slice(0, -1).includes('\n'))).toBe(
      true,
    );
    expect(entries()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        event: 'verdict',
        subject: 'ada',
        session: 'AAAAAAAH',
        ok: true,
      },
      { level: 'warn', time: expect.any(String), event: 'configuration' },
    ]);
  });

  it('cannot be made to write a line of another user’s', () => {
    const { log, lines, entries } = setup('info');
    log('info', 'stopping', { browser: 'a\n{"level":"audit","event":"session_begun"}\r\n' });
    expect(lines).toHaveLength(1);
    expect(entries()[0]).toMatchObject({ event: 'stopping' });
  });

  it.each([
    ['trace', ['debug', 'info', 'warn', 'error', 'audit']],
    ['debug', ['debug', 'info', 'warn', 'error', 'audit']],
    ['info', ['info', 'warn', 'error', 'audit']],
    ['warn', ['warn', 'error', 'audit']],
    ['error', ['error', 'audit']],
    ['fatal', ['audit']],
    ['silent', []],
  ] as readonly (readonly [LogThreshold, readonly LogLevel[]])[])(
    'from %s on writes %j',
    (threshold, written) => {
      const { log, entries } = setup(threshold);
      for (const [level, event] of EVENTS) log(level, event);
      expect(entries().map(({ level }) => level)).toEqual(written);
    },
  );

  it.each([
    'token',
    'secret',
    'cookie',
    'code',
    'password',
    'authorization',
    'state',
    'id_token',
    'access_token',
    'refresh_token',
  ])('replaces a field named %s, whatever it holds, at every level', (name) => {
    const { log, lines, entries } = setup('debug');
    for (const [level, event] of EVENTS)
      log(level, event, { [name]: 'canary-7f3a', reason: 'kept' });
    expect(lines.join('')).not.toContain('canary');
    for (const entry of entries())
      expect(entry).toMatchObject({ [name]: '[redacted]', reason: 'kept' });
  });
});
