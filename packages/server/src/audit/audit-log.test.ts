import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { Clock } from '@sallyport/testing/time/clock';
import { ClockTimers } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import type { LogFields } from '../log/log.ts';
import type { LogLevel } from '../log/log-events.ts';
import { createPinoLog } from '../log/pino-log.ts';
import { openAuditLog } from './audit-log.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function setup(path = join(createTemporaryFolder(), 'audit.jsonl')) {
  const timers = new ClockTimers(new Clock());
  const lines: [LogLevel, string, LogFields | undefined][] = [];
  const audit = openAuditLog({
    path,
    common: { worker: 2 },
    log: (...line) => lines.push([line[0], line[1], line[2]]),
    now: () => NOW,
    schedule: timers.schedule,
  });
  const written = () =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  return { path, timers, lines, audit, written };
}

describe('a log whose audit lines have a file', () => {
  it('writes them there and nowhere else, and every other line where it went', async () => {
    const { audit, lines, written } = setup();
    audit.log('audit', 'session_begun', { session: 'AAAAAAAH' });
    audit.log('info', 'stopping', { signal: 'SIGTERM' });
    await audit.close();
    expect(lines).toEqual([['info', 'stopping', { signal: 'SIGTERM' }]]);
    expect(written().map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        level: 'audit',
        time: '2026-01-02T03:04:05.678Z',
        event: 'session_begun',
        session: 'AAAAAAAH',
        worker: 2,
      },
    ]);
  });

  it('writes the line that the log itself would have, byte for byte but for the time', async () => {
    const { audit, written } = setup();
    const own: string[] = [];
    const log = createPinoLog('trace', { write: (line) => own.push(line) });
    const fields = {
      browser: 'a\u202e\u0007\n"',
      id_token: 'canary',
      subject: null,
      hidden: undefined,
    };
    audit.log('audit', 'session_begun', fields);
    log('audit', 'session_begun', { ...fields, worker: 2 });
    await audit.close();
    const timeless = (line: string) => line.trimEnd().replace(/"time":"[^"]+"/, '"time":""');
    expect(written().map(timeless)).toEqual(own.map(timeless));
    expect(written().join('')).not.toContain('canary');
  });

  it('puts what the file does not take into the log, and reports both', async () => {
    const path = join(createTemporaryFolder(), 'audit.jsonl');
    symlinkSync('/dev/full', path);
    const { audit, lines, written } = setup(path);
    audit.log('audit', 'session_begun', { session: 'AAAAAAAH' });
    await expect.poll(() => audit.failures, { timeout: 10_000 }).toBe(1);
    const failure = 'Error ENOSPC: no space left on device, write';
    expect(lines).toEqual([['error', 'audit_not_written', { file: path, failure }]]);
    expect(audit.waiting).toBe(1);
    rmSync(path);
    writeFileSync(path, '');
    audit.reopen();
    await expect.poll(() => written().length, { timeout: 10_000 }).toBe(2);
    await audit.close();
    audit.log('audit', 'session_ended', { reason: 'signed_out' });
    expect(lines.slice(1)).toEqual([
      ['info', 'audit_written_again', { elsewhere: 0 }],
      ['audit', 'session_ended', { reason: 'signed_out' }],
    ]);
    expect([audit.elsewhere, audit.waiting]).toEqual([1, 0]);
    expect(written().map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
      'session_begun',
      'audit_resumed',
    ]);
  });
});
