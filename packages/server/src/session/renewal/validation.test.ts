import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planValidation } from './validation.ts';

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
          const { revalidateAt = 0, validUntil } = planValidation(LIMITS, NOW, id, true, life);
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
      validUntil: undefined,
    });
  });
});
