import { Clock } from '@sallyport/testing/time/clock';
import { ClockTimers } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import type { LogFields } from '../../log/log.ts';
import {
  type EventBound,
  LOG_EVENT_NAMES,
  LOG_EVENTS,
  type LogEvent,
  type LogLevel,
} from '../../log/log-events.ts';
import { boundLog } from './log-bounds.ts';

const MANY = 5_000;
const isAudit = (event: LogEvent) => LOG_EVENTS[event].levels[0] === 'audit';
const eventsBound = (bound: EventBound) =>
  LOG_EVENT_NAMES.filter((event) => LOG_EVENTS[event].bound === bound);

function setup() {
  const timers = new ClockTimers(new Clock());
  const lines: [LogLevel, string, LogFields | undefined][] = [];
  const bounded = boundLog((...line) => lines.push([line[0], line[1], line[2]]), timers.schedule);
  const linesOf = (event: LogEvent) => lines.filter(([, name]) => name === event);
  return { timers, bounded, linesOf };
}

describe('a flood', () => {
  it.each(eventsBound('unauthenticated').filter((event) => !isAudit(event)))(
    'of %s is cut, and the log says how many were left out',
    async (event) => {
      const { timers, bounded, linesOf } = setup();
      for (let count = 0; count < MANY; count += 1)
        bounded.log(LOG_EVENTS[event].levels[0], event, { request_id: 'x' });
      expect(linesOf(event)).toHaveLength(50);
      await timers.advance(1_000);
      expect(linesOf('events_suppressed')).toEqual([
        ['warn', 'events_suppressed', { suppressed_event: event, suppressed: MANY - 50 }],
      ]);
    },
  );

  it.each([
    'bearer_refused',
    'sign_in_failed',
    'backchannel_logout_refused',
    'sign_in_started',
  ] as const)(
    'of %s is cut in the audit stream, which says so itself, with every fixed field',
    async (event) => {
      const { timers, bounded, linesOf } = setup();
      for (let count = 0; count < MANY; count += 1) bounded.log('audit', event);
      const written = linesOf(event).length;
      expect(written).toBeLessThanOrEqual(1_000);
      await timers.advance(1_000);
      expect(linesOf('events_suppressed')).toEqual([
        [
          'audit',
          'events_suppressed',
          {
            issuer: null,
            subject: null,
            session: null,
            address: null,
            browser: null,
            reason: 'flood',
            request_id: null,
            suppressed_event: event,
            suppressed: MANY - written,
          },
        ],
      ]);
    },
  );

  it('of tokens that no issuer signed hides no refusal of one that was verified, and the other way round', async () => {
    const { timers, bounded, linesOf } = setup();
    const refuse = (subject: string | null) =>
      bounded.log('audit', 'bearer_refused', { issuer: subject, subject });
    for (let count = 0; count < MANY; count += 1) refuse(null);
    refuse('ci-robot');
    expect(linesOf('bearer_refused')).toHaveLength(51);
    expect(linesOf('bearer_refused').at(-1)?.[2]).toMatchObject({ subject: 'ci-robot' });
    for (let count = 0; count < MANY; count += 1) refuse('ci-robot');
    expect(linesOf('bearer_refused')).toHaveLength(1_050);
    await timers.advance(1_000);
    const suppressed = linesOf('events_suppressed').map(([, , fields]) => fields);
    expect(suppressed).toMatchObject([
      { suppressed_event: 'bearer_refused', suppressed: MANY - 50 },
      { suppressed_event: 'bearer_refused', suppressed: MANY + 1 - 1_000 },
    ]);
    refuse(null);
    expect(linesOf('bearer_refused')).toHaveLength(1_051);
  });

  it('of callbacks without an attempt hides no ID token that did not pass its check', () => {
    const { bounded, linesOf } = setup();
    for (let count = 0; count < MANY; count += 1)
      bounded.log('audit', 'sign_in_failed', { reason: 'attempt_gone' });
    bounded.log('audit', 'sign_in_failed', { reason: 'token_invalid' });
    expect(linesOf('sign_in_failed')).toHaveLength(51);
    expect(linesOf('sign_in_failed').at(-1)?.[2]).toMatchObject({ reason: 'token_invalid' });
  });

  it('that is over is reported when the log is closed', () => {
    const { bounded, linesOf } = setup();
    for (let count = 0; count < 51; count += 1) bounded.log('audit', 'bearer_refused');
    bounded.close();
    expect(linesOf('events_suppressed')).toHaveLength(1);
  });
});

describe('nothing is left out', () => {
  it.each(eventsBound('every').filter(isAudit))('of %s, however many there are', (event) => {
    const { bounded, linesOf } = setup();
    for (let count = 0; count < MANY; count += 1) bounded.log('audit', event);
    expect(linesOf(event)).toHaveLength(MANY);
  });

  it.each(LOG_EVENT_NAMES.filter((event) => /^(?:session|configuration)_/.test(event)))(
    'of a transition: %s is never bounded',
    (event) => {
      expect(LOG_EVENTS[event].bound).toBe('every');
    },
  );

  it('of a line that comes with a timer of ours', () => {
    const { bounded, linesOf } = setup();
    for (let count = 0; count < MANY; count += 1) bounded.log('warn', 'idp_unreachable');
    expect(linesOf('idp_unreachable')).toHaveLength(MANY);
  });
});
