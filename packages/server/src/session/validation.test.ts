import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAdmittedUnasked, isUseWorthNoting, planValidation } from './validation.ts';

const LIMITS = { revalidateAfterMs: 600_000, renewalGraceMs: 300_000 };
const NOW = 1_000_000;
const ID_MAX = 2 ** 48 - 1;

describe('planValidation', () => {
  it('asks ahead of need, and lets a session count for the grace beyond it, whatever its id and token', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: ID_MAX }),
        fc.option(fc.integer({ min: 0, max: 86_400_000 }), { nil: undefined }),
        (id, life) => {
          const within = Math.max(
            30_000,
            Math.min(LIMITS.revalidateAfterMs, life ?? LIMITS.revalidateAfterMs),
          );
          const plan = planValidation(LIMITS, NOW, id, true, life);
          const { revalidateAt = 0, confirmedUntil, validUntil } = plan;
          expect(confirmedUntil).toBe(NOW + within);
          expect(revalidateAt).toBeGreaterThanOrEqual(NOW + Math.floor(0.7 * within));
          expect(revalidateAt).toBeLessThanOrEqual(NOW + 0.8 * within);
          expect(validUntil).toBe(NOW + within + LIMITS.renewalGraceMs);
        },
      ),
    );
  });

  it('asks no sooner for an access token that lives no time at all than for one of half a minute', () => {
    const shortest = planValidation(LIMITS, NOW, 1, true, 30_000);
    for (const life of [0, 1, 29_999])
      expect(planValidation(LIMITS, NOW, 1, true, life)).toEqual(shortest);
    expect(shortest.revalidateAt).toBeGreaterThanOrEqual(NOW + 21_000);
    expect(planValidation(LIMITS, NOW, 1, true, 30_100)).not.toEqual(shortest);
  });

  it('spreads sessions that began together', () => {
    const places = new Set(
      Array.from({ length: 100 }, (_, id) =>
        planValidation(LIMITS, NOW, id * 7, true, undefined),
      ).map(({ revalidateAt }) => revalidateAt),
    );
    expect(places.size).toBeGreaterThan(90);
  });

  it('plans nothing where there is no refresh token to ask with', () => {
    expect(planValidation(LIMITS, NOW, 1, false, 300_000)).toEqual({
      revalidateAt: undefined,
      confirmedUntil: undefined,
      validUntil: undefined,
    });
  });
});

describe('isAdmittedUnasked', () => {
  const MINUTE = 60_000;
  /** Due after 8 minutes, confirmed for 10. */
  const PLAN = { revalidateAt: NOW + 8 * MINUTE, confirmedUntil: NOW + 10 * MINUTE };
  const isAdmitted = (usedAfter: number, askedAfter: number, plan = PLAN) =>
    isAdmittedUnasked({ ...plan, lastUsedAt: NOW + usedAfter }, NOW + askedAfter);

  it.each([
    ['before it is due, however quiet', 0, 8 * MINUTE - 1, true],
    ['due and still confirmed, however quiet', 0, 10 * MINUTE - 1, true],
    ['at the moment its confirmation runs out, quiet', 0, 10 * MINUTE, false],
    ['at that moment, used a millisecond before', 10 * MINUTE - 1, 10 * MINUTE, false],
    ['used at that moment', 10 * MINUTE, 10 * MINUTE, true],
    ['used since, less than two minutes ago', 10 * MINUTE, 12 * MINUTE - 1, true],
    ['used since, two minutes ago', 10 * MINUTE, 12 * MINUTE, false],
    ['used since by a machine whose clock is ahead', 11 * MINUTE, 10 * MINUTE, true],
    ['long after, quiet', 0, 1_000 * MINUTE, false],
  ])('a session %s: %s', (_, usedAfter, askedAfter, isExpected) => {
    expect(isAdmitted(usedAfter, askedAfter)).toBe(isExpected);
  });

  it('is so for a session without a refresh token, and for one whose answer could not be verified', () => {
    const never = { revalidateAt: undefined, confirmedUntil: undefined, lastUsedAt: NOW };
    expect(isAdmittedUnasked(never, NOW + 1_000 * MINUTE)).toBe(true);
    const kept = { ...PLAN, revalidateAt: NOW + 12 * MINUTE };
    expect(isAdmitted(0, 12 * MINUTE - 1, kept)).toBe(true);
    expect(isAdmitted(0, 12 * MINUTE, kept)).toBe(false);
  });

  it('holds at every request of a session that is used at least once a minute, once one was admitted', () => {
    const gaps = fc.array(fc.integer({ min: 1, max: MINUTE }), { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 * MINUTE }), gaps, (usedAfter, all) => {
        let lastUsedAt = NOW + usedAfter;
        let time = PLAN.confirmedUntil;
        for (const gap of [0, ...all]) {
          time += gap;
          if (gap > 0) expect(isAdmittedUnasked({ ...PLAN, lastUsedAt }, time)).toBe(true);
          if (isUseWorthNoting({ ...PLAN, lastUsedAt }, time)) lastUsedAt = time;
        }
      }),
    );
  });
});

describe('isUseWorthNoting', () => {
  const confirmedUntil = NOW + 600_000;

  it.each([
    ['a minute after the last one', 0, 60_000, true],
    ['sooner', 0, 59_999, false],
    ['the first one since the confirmation ran out, however soon', 599_990, 600_000, true],
    ['the second one since, sooner than a minute', 600_000, 600_010, false],
    ['before the confirmation runs out, sooner than a minute', 599_990, 599_999, false],
  ])('%s: %s', (_, usedAfter, askedAfter, isExpected) => {
    const session = { confirmedUntil, lastUsedAt: NOW + usedAfter };
    expect(isUseWorthNoting(session, NOW + askedAfter)).toBe(isExpected);
  });

  it('is a minute alone for a session without a refresh token', () => {
    const session = { confirmedUntil: undefined, lastUsedAt: NOW };
    expect(isUseWorthNoting(session, NOW + 59_999)).toBe(false);
    expect(isUseWorthNoting(session, NOW + 60_000)).toBe(true);
  });
});
