import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../audit/audit.ts';
import type { CheckRequest } from '../verdict/check-request.ts';
import type { Refused, RefusedToken, Verdict } from '../verdict/verdict.ts';
import { auditBearers } from './audit-bearers.ts';

const ORIGIN = { address: '192.0.2.1', browser: undefined, request_id: 'request-0001' };
const REQUEST: CheckRequest = { method: 'GET', headers: {}, rawHeaders: [], transport: 'http' };
const TOKEN: RefusedToken = {
  problem: 'signature',
  issuer: 'https://idp.example',
  subject: undefined,
  client: undefined,
};

function eventsOf(verdict: Verdict) {
  const events: AuditEvent[] = [];
  auditBearers(
    (event) => events.push(event),
    () => ORIGIN,
  )('me', verdict, REQUEST);
  return events;
}

describe('a refused bearer token', () => {
  it('is one event, without subject and client as long as it is not verified', () => {
    const verdict: Refused = { outcome: 'refused', reason: 'bearer_not_accepted', token: TOKEN };
    expect(eventsOf(verdict)).toEqual([
      {
        event: 'bearer_refused',
        issuer: 'https://idp.example',
        subject: undefined,
        session: undefined,
        ...ORIGIN,
        reason: 'bearer_not_accepted',
        problem: 'signature',
        client: undefined,
        door: 'me',
      },
    ]);
  });

  it.each(['insufficient_scope', 'not_allowed'] as const)(
    'names subject and client of a verified one: %s',
    (reason) => {
      const token = { ...TOKEN, problem: 'scope', subject: 'robot', client: 'robots' };
      expect(eventsOf({ outcome: 'refused', reason, token })).toMatchObject([
        { reason, subject: 'robot', client: 'robots', problem: 'scope' },
      ]);
    },
  );
});

describe('no event', () => {
  it.each([
    { outcome: 'refused', reason: 'no_credential' },
    { outcome: 'refused', reason: 'session_expired' },
    { outcome: 'refused', reason: 'not_allowed' },
    { outcome: 'undecided', reason: 'issuer_unavailable', retryAfterSeconds: 1 },
  ] as const)('is written for %o', (verdict) => {
    expect(eventsOf(verdict)).toEqual([]);
  });
});
