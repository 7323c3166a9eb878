import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Log } from './log.ts';
import { LOG_EVENT_NAMES, LOG_EVENTS } from './log-events.ts';

const PACKAGES = new URL('../../..', import.meta.url).pathname;
const SOURCE = ['server', 'cli', 'gateway', 'idp']
  .map((name) => join(PACKAGES, name, 'src'))
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /^(?!testing\/).*(?<!\.test)\.ts$/.test(path))
      .filter((path) => !/(?:^|\/)(?:log-events?|metrics-\w+)\.ts$/.test(path))
      .map((path) => readFileSync(join(folder, path), 'utf8')),
  )
  .join('\n');

describe('the table of events', () => {
  it.each(LOG_EVENT_NAMES)('%s is written somewhere in the source', (event) => {
    expect(SOURCE).toContain(`'${event}'`);
  });

  it('does not name an event of the audit stream that may be left out without a rate', () => {
    for (const event of LOG_EVENT_NAMES)
      if (LOG_EVENTS[event].levels[0] === 'audit')
        expect(LOG_EVENTS[event].bound).not.toBe('by_writer');
  });
});

describe('a line that is not in the table does not compile', () => {
  const log: Log = () => {};

  it('because its event is misspelt, or because the level is not one of the event', () => {
    log('error', 'request_failed');
    // @ts-expect-error a misspelt event
    log('error', 'request_faild');
    // @ts-expect-error another level
    log('info', 'request_failed');
    // @ts-expect-error an event of the audit stream outside of it
    log('warn', 'session_begun');
    expect(LOG_EVENTS.request_failed.levels).toEqual(['error']);
  });
});
