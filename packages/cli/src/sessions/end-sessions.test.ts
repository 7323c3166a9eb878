import {
  createSession,
  DOWN,
  ISSUER,
  NOON,
  SessionsInMemory,
} from '@sallyport/testing/cli/sessions';
import { describe, expect, it } from 'vitest';
import { type EndingPorts, endAllSessions, endByIds, endOfPrincipal } from './end-sessions.ts';

const ADA = { issuer: ISSUER, subject: 'ada-subject' };

function setUp(count: number) {
  const memory = new SessionsInMemory(count);
  const reported: number[] = [];
  const controller = new AbortController();
  const ports: EndingPorts = {
    sessions: memory.sessions,
    store: memory.store,
    now: () => NOON,
    onEnded: ({ id }) => reported.push(id),
    signal: controller.signal,
  };
  return { memory, reported, controller, ports };
}

const idsOf = (ended: readonly { readonly id: number }[]): number[] => ended.map(({ id }) => id);

describe('ending sessions by id', () => {
  it('ends those that are named, for the reason session_revoked, and no other', async () => {
    const { memory, reported, ports } = setUp(4);
    const report = await endByIds(ports, [3, 1]);
    expect(idsOf(report.ended)).toEqual([3, 1]);
    expect(report.ended[0]?.row?.email).toBe('ada@corp.example');
    expect(reported).toEqual([3, 1]);
    expect(memory.calls).toEqual(['revoke 3 session_revoked', 'revoke 1 session_revoked']);
    expect([...memory.standing.keys()]).toEqual([2, 4]);
    expect(report.failure).toBeUndefined();
  });

  it('says of an id that is unknown, of one that has ended and of one that expired that they are', async () => {
    const { memory, reported, ports } = setUp(2);
    memory.standing.set(2, createSession(2, { absoluteEnd: NOON }));
    memory.sessions.find = async (id) => (id === 2 ? undefined : memory.standing.get(id));
    const report = await endByIds(ports, [50, 99, 2, 1]);
    expect(report.unknown).toEqual([50]);
    expect(report.over).toEqual([
      { id: 99, reason: 'signed_out' },
      { id: 2, reason: 'expired' },
    ]);
    expect(reported).toEqual([1]);
    expect(memory.calls).toEqual(['revoke 1 session_revoked']);
  });

  it('ends a session whose record no key opens', async () => {
    const { memory, ports } = setUp(1);
    memory.sessions.find = async () => undefined;
    const report = await endByIds(ports, [1]);
    expect(report.ended).toEqual([{ id: 1, row: undefined }]);
    expect(memory.standing.size).toBe(0);
  });

  it('stops when the store fails, and reports what ended, what is unclear and what was not touched', async () => {
    const { memory, reported, ports } = setUp(4);
    memory.failing.add(2);
    const report = await endByIds(ports, [1, 2, 3, 4]);
    expect(idsOf(report.ended)).toEqual([1]);
    expect(reported).toEqual([1]);
    expect(report.unclear).toEqual([2]);
    expect(report.untouched).toEqual([3, 4]);
    expect(report.failure).toBe(DOWN);
    expect([...memory.standing.keys()]).toEqual([2, 3, 4]);
  });

  it('touches nothing when the store is down', async () => {
    const { memory, reported, ports } = setUp(2);
    memory.isDown = true;
    const report = await endByIds(ports, [1, 2]);
    expect(report).toEqual({
      ended: [],
      over: [],
      unknown: [],
      unclear: [],
      untouched: [1, 2],
      failure: DOWN,
    });
    expect(reported).toEqual([]);
  });

  it('stops between two when it is interrupted', async () => {
    const { controller, ports } = setUp(3);
    const stopping = { ...ports, onEnded: () => controller.abort(new Error('interrupted')) };
    const report = await endByIds(stopping, [1, 2, 3]);
    expect(idsOf(report.ended)).toEqual([1]);
    expect(report.untouched).toEqual([2, 3]);
    expect(report.failure).toBe(controller.signal.reason);
  });
});

describe('ending the sessions of a principal', () => {
  it('ends all of them at once, and no other user’s', async () => {
    const { memory, reported, ports } = setUp(3);
    const grace = { issuer: ISSUER, subject: 'grace-subject', kind: 'user' as const };
    memory.standing.set(2, createSession(2, { principal: grace }));
    const report = await endOfPrincipal(ports, ADA);
    expect(idsOf(report.ended)).toEqual([1, 3]);
    expect(report.ended[0]?.row?.address).toBe('192.0.2.15');
    expect(reported).toEqual([1, 3]);
    expect([...memory.standing.keys()]).toEqual([2]);
    expect(memory.calls).toEqual(['endAll ada-subject']);
  });

  it('revokes also where there is no session: a sign-in may be under way', async () => {
    const { memory, ports } = setUp(0);
    const report = await endOfPrincipal(ports, ADA);
    expect(report.ended).toEqual([]);
    expect(report.failure).toBeUndefined();
    expect(memory.calls).toEqual(['endAll ada-subject']);
  });

  it('reports which sessions are unclear when the store fails', async () => {
    const { memory, reported, ports } = setUp(2);
    memory.failing.add(1);
    const report = await endOfPrincipal(ports, ADA);
    expect(report.unclear).toEqual([1, 2]);
    expect(report.failure).toBe(DOWN);
    expect(reported).toEqual([]);
  });

  it('does nothing when it cannot read them', async () => {
    const { memory, ports } = setUp(2);
    memory.isDown = true;
    const report = await endOfPrincipal(ports, ADA);
    expect([report.unclear, report.failure]).toEqual([[], DOWN]);
    expect(memory.calls).toEqual([]);
  });
});

describe('ending all sessions', () => {
  it('goes through all parts, those that no key opens included', async () => {
    const { memory, reported, ports } = setUp(8);
    memory.sealed = [77];
    const report = await endAllSessions(ports);
    expect(idsOf(report.ended)).toEqual([1, 2, 3, 77, 4, 5, 6, 7, 8]);
    expect(reported).toEqual(idsOf(report.ended));
    expect(memory.standing.size).toBe(0);
    expect(report.failure).toBeUndefined();
  });

  it('reports a session once that comes in two parts', async () => {
    const { memory, reported, ports } = setUp(2);
    const one = createSession(1);
    const first = { sessions: [one], sealed: [], next: 'more' };
    const second = { sessions: [one, createSession(2)], sealed: [], next: undefined };
    ports.sessions.page = async (cursor) => (cursor === undefined ? first : second);
    await endAllSessions(ports);
    expect(reported).toEqual([1, 2]);
    expect(memory.calls).toHaveLength(2);
  });

  it('stops when the store fails; of those under way each is reported as ended or unclear', async () => {
    const { memory, reported, ports } = setUp(8);
    memory.failing.add(5);
    const report = await endAllSessions(ports);
    expect(reported).toEqual([1, 2, 3, 4, 6]);
    expect(report.unclear).toEqual([5]);
    expect(report.failure).toBe(DOWN);
    expect([...memory.standing.keys()]).toEqual([5, 7, 8]);
  });

  it('stops when it is interrupted', async () => {
    const { memory, controller, ports } = setUp(8);
    const stopping = { ...ports, onEnded: () => controller.abort(new Error('interrupted')) };
    const report = await endAllSessions(stopping);
    expect(idsOf(report.ended)).toEqual([1, 2, 3]);
    expect(memory.standing.size).toBe(5);
    expect(report.failure).toBe(controller.signal.reason);
  });

  it('stops within a part when it is interrupted, once those under way are through', async () => {
    const memory = new SessionsInMemory(40, 40);
    const controller = new AbortController();
    const report = await endAllSessions({
      ...setUp(0).ports,
      sessions: memory.sessions,
      store: memory.store,
      onEnded: () => controller.abort(new Error('interrupted')),
      signal: controller.signal,
    });
    expect([report.ended.length, memory.standing.size]).toEqual([32, 8]);
    expect(report.failure).toBe(controller.signal.reason);
  });
});
