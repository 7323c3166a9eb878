import { describe, expect, it } from 'vitest';
import type { LogFields } from '../log/log.ts';
import { type AuditEvent, auditPrincipal, createAudit, NO_PRINCIPAL, NO_REQUEST } from './audit.ts';

const FIXED = ['issuer', 'subject', 'session', 'address', 'browser', 'reason', 'request_id'];

function fieldsOf(event: AuditEvent): LogFields {
  let logged: LogFields = {};
  createAudit((level, name, fields = {}) => {
    expect([level, name]).toEqual(['audit', event.event]);
    logged = fields;
  })(event);
  return logged;
}

describe('a line of the audit stream', () => {
  it('has every fixed field first and in the same order, null for an unknown value', () => {
    const fields = fieldsOf({
      event: 'key_ring_loaded',
      ...NO_PRINCIPAL,
      session: undefined,
      ...NO_REQUEST,
      reason: 'first_use',
    });
    expect(Object.keys(fields)).toEqual(FIXED);
    expect(fields).toEqual({
      ...Object.fromEntries(FIXED.map((name) => [name, null])),
      reason: 'first_use',
    });
  });

  it('says who, which session, from where, why and in which request, and what the event has besides', () => {
    const fields = fieldsOf({
      event: 'session_ended',
      ...auditPrincipal({ issuer: 'https://idp.example', subject: 'ada', kind: 'user' }),
      session: 7,
      address: '192.0.2.1',
      browser: 'Firefox',
      request_id: 'request-0001',
      reason: 'session_revoked',
      by: 'account',
      by_session: 8,
    });
    expect(Object.keys(fields)).toEqual([...FIXED, 'by', 'by_session']);
    expect(fields).toEqual({
      issuer: 'https://idp.example',
      subject: 'ada',
      session: 'AAAAAAAH',
      address: '192.0.2.1',
      browser: 'Firefox',
      reason: 'session_revoked',
      request_id: 'request-0001',
      by: 'account',
      by_session: 'AAAAAAAI',
    });
  });

  it.each([
    [
      ['access.groups', 'x'.repeat(513)],
      ['access.groups', 'x'.repeat(512)],
    ],
    [null, null],
  ])(
    'lists what changed, each cut by itself, and says null where it is not known: %#',
    (changed, expected) => {
      const event = 'configuration_refused' as const;
      const rest = {
        ...NO_PRINCIPAL,
        session: undefined,
        ...NO_REQUEST,
        reason: 'signal',
      } as const;
      expect(fieldsOf({ event, ...rest, problem: 'no', changed })['changed']).toEqual(expected);
    },
  );

  it('holds no text that is longer than 512 characters, from any source', () => {
    const long = 'x'.repeat(100_000);
    const fields = fieldsOf({
      event: 'bearer_refused',
      issuer: long,
      subject: long,
      session: undefined,
      address: long,
      browser: long,
      request_id: long,
      reason: 'bearer_not_accepted',
      problem: long,
      client: long,
      door: 'me',
    });
    for (const value of Object.values(fields))
      if (typeof value === 'string') expect(value.length).toBeLessThanOrEqual(512);
  });

  it('cannot be built without one of the fixed fields', () => {
    const audit = createAudit(() => {});
    // @ts-expect-error: the owner of the session is missing.
    audit({ event: 'session_begun', session: 7, ...NO_REQUEST, reason: 'signed_in' });
    // @ts-expect-error: nor in which request.
    audit({ event: 'session_begun', ...NO_PRINCIPAL, session: 7, reason: 'signed_in' });
    // @ts-expect-error: there is no such reason.
    audit({ event: 'session_begun', ...NO_PRINCIPAL, session: 7, ...NO_REQUEST, reason: 'bored' });
  });
});
