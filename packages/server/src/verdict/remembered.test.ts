import { ADA, ADA_SIGNS_IN, LIFETIMES } from '@sallyport/testing/server/people';
import { NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import { formatSessionId } from '../session/session-id.ts';
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
    identity,
    admitted: {
      outcome: 'admitted',
      identity,
      session: {
        id,
        generation: 1,
        createdAt: NOON,
        endsAt: NOON + LIFETIMES.idleTimeoutMs,
        absoluteEnd,
      },
      setCookie: undefined,
      renewal: undefined,
    },
    lastUsedAt: NOON,
    idleTimeoutMs: LIFETIMES.idleTimeoutMs,
    revalidateAt: undefined,
    confirmedUntil: undefined,
    validUntil: undefined,
    readAgainAt: NOON + 300_000,
    generation: 0,
  };
}

/** A cookie value of the session, with one secret or another. */
function cookieOf(id: number, secret = 'a'): string {
  return `${formatSessionId(id)}.${secret.repeat(43)}`;
}

describe('RememberedSessions', () => {
  it('gives back what was kept under the very cookie value, and nothing for another', () => {
    const cache = new RememberedSessions(10);
    const entry = remembered(1);
    cache.set(cookieOf(1), entry, NOON);
    expect(cache.get(cookieOf(1))).toBe(entry);
    const others = ['', formatSessionId(1), `${cookieOf(1)} `, cookieOf(1, 'b'), cookieOf(2)];
    for (const other of [...others, cookieOf(1).slice(0, -1), `${cookieOf(1)}\u0000`])
      expect(cache.get(other)).toBeUndefined();
    expect(cache.get(cookieOf(1))).toBe(entry);
  });

  it('never holds more than its limit, and lets go first what was not asked for', () => {
    const cache = new RememberedSessions(100);
    cache.set(cookieOf(5_000), remembered(5_000), NOON);
    for (let id = 0; id < 1_000; id += 1) {
      cache.set(cookieOf(id), remembered(id), NOON);
      cache.set(cookieOf(id), remembered(id), NOON);
      expect(cache.size).toBeLessThanOrEqual(100);
      expect(cache.get(cookieOf(5_000))).toBeDefined();
    }
    expect(cache.get(cookieOf(899))).toBeUndefined();
    expect(cache.get(cookieOf(999))).toBeDefined();
  });

  it('keeps one entry a session: a later one takes the place of the earlier', () => {
    const cache = new RememberedSessions(10);
    cache.set(cookieOf(1, 'a'), remembered(1), NOON);
    cache.set(cookieOf(1, 'b'), remembered(1), NOON);
    expect(cache.size).toBe(1);
    expect(cache.get(cookieOf(1, 'a'))).toBeUndefined();
    expect(cache.get(cookieOf(1, 'b'))).toBeDefined();
    cache.drop(1);
    expect(cache.size).toBe(0);
  });

  it('forgets one session and no other; what is gone can be forgotten again', () => {
    const cache = new RememberedSessions(10);
    cache.set(cookieOf(1), remembered(1), NOON);
    cache.set(cookieOf(2), remembered(2), NOON);
    cache.drop(1);
    cache.drop(1);
    cache.drop(99);
    expect(cache.get(cookieOf(1))).toBeUndefined();
    expect(cache.get(cookieOf(2))).toBeDefined();
  });

  it('lets go of what counts no longer, once a minute, without being asked for it', () => {
    const cache = new RememberedSessions(10);
    for (const id of [1, 2, 3]) cache.set(cookieOf(id), remembered(id), NOON);
    const later = { ...remembered(4), readAgainAt: NOON + 600_000 };
    cache.set(cookieOf(4), later, NOON + 299_000);
    expect(cache.size).toBe(4);
    const other = { ...remembered(5), readAgainAt: NOON + 600_000 };
    cache.set(cookieOf(5), other, NOON + 300_000);
    expect(cache.size).toBe(5);
    cache.set(cookieOf(5), other, NOON + 359_000);
    expect(cache.size).toBe(2);
    expect(cache.get(cookieOf(4))).toBe(later);
  });

  it('forgets everything, and goes on working', () => {
    const cache = new RememberedSessions(10);
    cache.set(cookieOf(1), remembered(1), NOON);
    cache.set(cookieOf(2), remembered(2), NOON);
    cache.clear();
    expect(cache.size).toBe(0);
    expect(cache.get(cookieOf(1))).toBeUndefined();
    cache.set(cookieOf(1), remembered(1), NOON);
    expect(cache.size).toBe(1);
    cache.drop(1);
    expect(cache.size).toBe(0);
  });
});
