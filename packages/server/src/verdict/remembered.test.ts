import { describe, expect, it } from 'vitest';
import { NOON } from '../testing/clock.ts';
import { ADA, ADA_SIGNS_IN, LIFETIMES } from '../testing/people.ts';
import { type RememberedSession, RememberedSessions } from './remembered.ts';

function remembered(id: number): RememberedSession {
  const { principal, claims } = ADA_SIGNS_IN;
  const identity = {
    principal,
    user: ADA,
    claims,
    headers: [],
    body: { camelCase: '', snakeCase: '' },
  };
  const absoluteEnd = NOON + LIFETIMES.absoluteMs;
  return {
    session: {
      id,
      generation: 1,
      principal,
      user: ADA,
      claims,
      sid: undefined,
      createdAt: NOON,
      absoluteEnd,
      idleMs: LIFETIMES.idleMs,
      lastUsedAt: NOON,
      revalidateAt: undefined,
      validUntil: undefined,
      signInAt: 0,
      address: '',
      browser: '',
    },
    identity,
    admitted: {
      outcome: 'admitted',
      identity,
      session: { id, generation: 1, createdAt: NOON, endsAt: NOON + LIFETIMES.idleMs, absoluteEnd },
      setCookie: undefined,
      renewal: undefined,
    },
    readAgainAt: NOON + 300_000,
    generation: 0,
  };
}

describe('RememberedSessions', () => {
  it('gives back what was kept under the very cookie value, and nothing for another', () => {
    const cache = new RememberedSessions(10);
    const entry = remembered(1);
    cache.set('value', entry);
    expect(cache.get('value')).toBe(entry);
    for (const other of ['', 'valu', 'value ', 'Value', 'value\u0000'])
      expect(cache.get(other)).toBeUndefined();
  });

  it('never holds more than its limit, and lets the oldest go first', () => {
    const cache = new RememberedSessions(100);
    for (let id = 0; id < 1_000; id += 1) {
      cache.set(`value-${id}`, remembered(id));
      expect(cache.size).toBeLessThanOrEqual(100);
    }
    expect(cache.size).toBe(100);
    expect(cache.get('value-899')).toBeUndefined();
    expect(cache.get('value-900')).toBeDefined();
    expect(cache.get('value-999')).toBeDefined();
  });

  it('keeps one entry a session: a later one takes the place of the earlier', () => {
    const cache = new RememberedSessions(10);
    cache.set('earlier', remembered(1));
    cache.set('later', remembered(1));
    expect(cache.size).toBe(1);
    expect(cache.get('earlier')).toBeUndefined();
    expect(cache.get('later')).toBeDefined();
    cache.drop(1);
    expect(cache.size).toBe(0);
  });

  it('forgets one session and no other; what is gone can be forgotten again', () => {
    const cache = new RememberedSessions(10);
    cache.set('one', remembered(1));
    cache.set('two', remembered(2));
    cache.drop(1);
    cache.drop(1);
    cache.drop(99);
    expect(cache.get('one')).toBeUndefined();
    expect(cache.get('two')).toBeDefined();
  });

  it('forgets everything, and goes on working', () => {
    const cache = new RememberedSessions(10);
    cache.set('one', remembered(1));
    cache.set('two', remembered(2));
    cache.clear();
    expect(cache.size).toBe(0);
    expect(cache.get('one')).toBeUndefined();
    cache.set('one', remembered(1));
    expect(cache.size).toBe(1);
    cache.drop(1);
    expect(cache.size).toBe(0);
  });

  it('does not grow with sessions that are dropped and come back', () => {
    const cache = new RememberedSessions(3);
    for (let round = 0; round < 100; round += 1) {
      cache.set('value', remembered(1));
      cache.drop(1);
    }
    cache.set('a', remembered(1));
    cache.set('b', remembered(2));
    cache.set('c', remembered(3));
    expect(['a', 'b', 'c'].every((value) => cache.get(value) !== undefined)).toBe(true);
  });
});
