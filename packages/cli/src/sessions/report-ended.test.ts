import { SallyportError } from '@sallyport/protocol';
import { createRow, DOWN } from '@sallyport/testing/cli/sessions';
import { describe, expect, it } from 'vitest';
import type { Stdio } from '../terminal/stdio.ts';
import { type EndReport, NOTHING_ENDED } from './end-sessions.ts';
import { auditEnded, describeEnded, describeEnding, reportEnded } from './report-ended.ts';

const ONE = { id: 1, row: undefined };

function report(changes: Partial<EndReport>, isJson = false, wasInterrupted = false) {
  const out: string[] = [];
  const error: string[] = [];
  const stdio: Stdio = {
    out: (line) => out.push(line),
    error: (line) => error.push(line),
    isTerminal: false,
    isInteractive: false,
    conceal: () => {},
    cleanse: (text) => text,
  };
  const code = reportEnded(
    { ...NOTHING_ENDED, ...changes },
    { isJson, wasInterrupted: () => wasInterrupted },
    stdio,
  );
  return { code, out, error };
}

describe('reporting what became of sessions', () => {
  it('is one line for each that ended, harmless to a terminal', () => {
    const row = createRow({ email: 'a\u001b[31m@corp.example', browser: 'x\u009b2Jy' });
    expect(describeEnded({ id: 1, row })).toBe(
      'ended  AAAAAAAB  a [31m@corp.example  192.0.2.15  x 2Jy',
    );
    expect(describeEnded({ id: 1, row: undefined })).toBe('ended  AAAAAAAB');
  });

  it('is code 0 and silence when all went through', () => {
    expect(report({ ended: [{ id: 1, row: createRow() }] })).toEqual({
      code: 0,
      out: [],
      error: [],
    });
  });

  it('is code 1 when an id is of no session', () => {
    expect(report({ unknown: [2, 3] })).toEqual({
      code: 1,
      out: [],
      error: [
        'sallyport: there is no such session: AAAAAAAC, AAAAAAAD',
        '  "sallyport sessions list" shows those there are.',
      ],
    });
  });

  it('is code 0 when a session had ended already', () => {
    expect(report({ over: [{ id: 2, reason: 'signed_out' }] })).toEqual({
      code: 0,
      out: [],
      error: ['AAAAAAAC has ended already: the person signed out.'],
    });
  });

  it('names what is unclear and what was not touched when the store failed, with code 1', () => {
    const { code, error } = report({ unclear: [2], untouched: [3, 4], failure: DOWN });
    expect(code).toBe(1);
    expect(error).toEqual([
      'sallyport: the store is down (SP_STORE_UNAVAILABLE)',
      '  It is not known whether these have ended: AAAAAAAC',
      '  These were not touched: AAAAAAAD, AAAAAAAE',
      '  Run the command again: a session that has ended is left as it is.',
    ]);
  });

  it('says what is below a failure, in sentences', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6379'), {
      code: 'ECONNREFUSED',
    });
    const below = new SallyportError('SP_STORE_UNAVAILABLE', {
      component: 'store:redis',
      detail: 'the server cannot be reached',
      cause: refused,
    });
    const failure = new SallyportError('SP_STORE_UNAVAILABLE', {
      component: 'store:redis',
      detail: 'the server is not connected',
      cause: below,
    });
    expect(report({ failure }).error).toEqual([
      'sallyport: the server is not connected (SP_STORE_UNAVAILABLE)',
      '  Cause: the server cannot be reached <- Error ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:6379',
    ]);
  });

  it('does not say to run it again when nothing is unclear', () => {
    const { code, error } = report({ untouched: [3], failure: DOWN });
    expect([code, error]).toEqual([
      1,
      ['sallyport: the store is down (SP_STORE_UNAVAILABLE)', '  These were not touched: AAAAAAAD'],
    ]);
  });

  it('is code 130 when it was interrupted', () => {
    const { code, error } = report({ untouched: [3], failure: new Error('stop') }, false, true);
    expect(code).toBe(130);
    expect(error).toContain('  These were not touched: AAAAAAAD');
  });

  it('is one document for a program', () => {
    const { code, out, error } = report(
      {
        ended: [
          { id: 1, row: createRow() },
          { id: 2, row: undefined },
        ],
        over: [{ id: 3, reason: 'expired' }],
        unclear: [4],
        untouched: [5],
        failure: DOWN,
      },
      true,
    );
    expect([code, error, out.length]).toEqual([1, [], 1]);
    expect(JSON.parse(out[0] ?? '')).toEqual({
      ok: false,
      ended: [
        { id: 'AAAAAAAB', issuer: 'https://idp.example', subject: 'ada-subject' },
        { id: 'AAAAAAAC', issuer: null, subject: null },
      ],
      already_ended: [{ id: 'AAAAAAAD', reason: 'expired' }],
      unknown: [],
      unclear: ['AAAAAAAE'],
      untouched: ['AAAAAAAF'],
      error: 'SP_STORE_UNAVAILABLE',
      description: 'the store is down (SP_STORE_UNAVAILABLE)',
      hint: '',
    });
    expect(JSON.parse(report({ ended: [] }, true).out[0] ?? '')).toMatchObject({ ok: true });
  });

  it.each([
    [{ ended: [ONE] }, {}, '1 session ended; running servers refuse it within a second.'],
    [{ ended: [ONE, ONE] }, {}, '2 sessions ended; running servers refuse them within a second.'],
    [{}, {}, 'No session was ended.'],
    [{}, { all: true }, 'There were no sessions.'],
    // It may have ended: the failure says so.
    [{ failure: DOWN, unclear: [1] }, {}, ''],
  ])('is summed up: %#', (changes, asked, sentence) => {
    expect(describeEnding({ ...NOTHING_ENDED, ...changes }, asked)).toBe(sentence);
  });

  it('says what a subject is where it had no session', () => {
    expect(describeEnding(NOTHING_ENDED, { subject: 'ada@corp.example' })).toContain('"sub"');
  });

  it('puts who did it into the audit line, and nothing of the person but issuer and subject', () => {
    expect(
      auditEnded({ id: 1, row: createRow() }, { operator: 'root', sudo_user: 'grace' }),
    ).toEqual({
      event: 'session_ended',
      address: undefined,
      browser: undefined,
      request_id: undefined,
      reason: 'session_revoked',
      by: 'operator',
      operator: 'root',
      sudo_user: 'grace',
      issuer: 'https://idp.example',
      subject: 'ada-subject',
      session: 1,
    });
  });
});
