import { createTokens } from '@sallyport/testing/client/tokens';
import { NOON } from '@sallyport/testing/time/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDue, planRenewal } from './renewal-plan.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A token obtained at noon that lives for so long. */
const living = (ms: number | undefined) =>
  createTokens('x', { expiresAt: ms === undefined ? undefined : NOON + ms });

describe('When the token of a service is replaced', () => {
  it.each([
    // Lifetime, window, earliest and latest renewal, end of use; each after it was obtained.
    [60 * MINUTE, 5 * MINUTE, 55 * MINUTE, 55 * MINUTE + 145 * SECOND, 60 * MINUTE - 10 * SECOND],
    [60 * MINUTE, 10 * MINUTE, 50 * MINUTE, 50 * MINUTE + 295 * SECOND, 60 * MINUTE - 10 * SECOND],
    [8 * MINUTE, 5 * MINUTE, 4 * MINUTE, 4 * MINUTE + 115 * SECOND, 8 * MINUTE - 10 * SECOND],
    [
      60 * MINUTE,
      0,
      60 * MINUTE - 30 * SECOND,
      60 * MINUTE - 20 * SECOND,
      60 * MINUTE - 10 * SECOND,
    ],
    [24 * SECOND, 5 * MINUTE, 7 * SECOND, 10.5 * SECOND, 14 * SECOND],
  ])(
    'of %s ms with a window of %s ms: between %s and %s ms, and used for %s ms',
    (life, window, earliest, latest, usable) => {
      expect(planRenewal(living(life), window, 0)).toEqual({
        renewAt: NOON + earliest,
        usableUntil: NOON + usable,
      });
      expect(planRenewal(living(life), window, 1).renewAt).toBe(NOON + latest);
    },
  );

  it('without an end: after 5 minutes, and used until it is refused', () => {
    expect(planRenewal(living(undefined), 5 * MINUTE, 0)).toEqual({
      renewAt: NOON + 5 * MINUTE,
      usableUntil: Number.POSITIVE_INFINITY,
    });
  });

  it('of any life above 10 seconds: after it was obtained, before the last 10 seconds, never before half of its usable time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10_001, max: 3 * 86_400_000 }),
        fc.integer({ min: 0, max: 86_400_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (life, window, random) => {
          const { renewAt, usableUntil } = planRenewal(living(life), window, random);
          expect(usableUntil).toBe(NOON + life - 10 * SECOND);
          expect(renewAt).toBeLessThan(usableUntil);
          expect(renewAt - NOON).toBeGreaterThanOrEqual((usableUntil - NOON) / 2);
          const isLong = life >= 30 * SECOND;
          if (isLong)
            expect(NOON + life - renewAt).toBeLessThanOrEqual(
              Math.min(Math.max(window, 30 * SECOND), life / 2),
            );
        },
      ),
    );
  });

  it('is due at its time and not before, and when the clock was set back by more than a minute', () => {
    const tokens = living(60 * MINUTE);
    const plan = planRenewal(tokens, 5 * MINUTE, 0);
    expect(isDue(tokens, plan, plan.renewAt - 1)).toBe(false);
    expect(isDue(tokens, plan, plan.renewAt)).toBe(true);
    expect(isDue(tokens, plan, NOON - MINUTE)).toBe(false);
    expect(isDue(tokens, plan, NOON - MINUTE - 1)).toBe(true);
  });
});
