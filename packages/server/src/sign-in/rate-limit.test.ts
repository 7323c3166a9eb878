import { Clock } from '@sallyport/testing/time/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRateLimit } from './rate-limit.ts';

function setup(perMinute: number) {
  const clock = new Clock();
  return { clock, take: createRateLimit(perMinute, clock.now) };
}

describe('createRateLimit', () => {
  it('grants as many turns at once as a minute gives, and no more', () => {
    const { take } = setup(10);
    for (let turn = 0; turn < 10; turn += 1) expect(take('a')).toEqual({ ok: true });
    expect(take('a')).toEqual({ ok: false, retryAfterSeconds: 6 });
  });

  it('gives turns back evenly', () => {
    const { take, clock } = setup(10);
    for (let turn = 0; turn < 11; turn += 1) take('a');
    clock.advance(5_999);
    expect(take('a')).toEqual({ ok: false, retryAfterSeconds: 1 });
    clock.advance(1);
    expect(take('a')).toEqual({ ok: true });
    expect(take('a')).toEqual({ ok: false, retryAfterSeconds: 6 });
  });

  it('saves up no more than a minute’s turns', () => {
    const { take, clock } = setup(3);
    take('a');
    clock.advance(86_400_000);
    expect([1, 2, 3, 4].map(() => take('a').ok)).toEqual([true, true, true, false]);
  });

  it('only looks when it takes none: that costs nothing, and sees what is left', () => {
    const { take, clock } = setup(2);
    for (let look = 0; look < 10; look += 1) expect(take('a', 0)).toEqual({ ok: true });
    take('a');
    for (let look = 0; look < 10; look += 1) expect(take('a', 0)).toEqual({ ok: true });
    expect(take('a')).toEqual({ ok: true });
    expect(take('a', 0)).toEqual({ ok: false, retryAfterSeconds: 30 });
    clock.advance(30_000);
    expect(take('a', 0)).toEqual({ ok: true });
    expect(take('a')).toEqual({ ok: true });
    expect(take('a')).toEqual({ ok: false, retryAfterSeconds: 30 });
  });

  it('counts each key alone', () => {
    const { take } = setup(1);
    expect(take('a').ok).toBe(true);
    expect(take('a').ok).toBe(false);
    expect(take('b').ok).toBe(true);
  });

  it('does not punish asking again: refused turns cost nothing', () => {
    const { take, clock } = setup(60);
    for (let turn = 0; turn < 60; turn += 1) take('a');
    for (let turn = 0; turn < 1_000; turn += 1) expect(take('a').ok).toBe(false);
    clock.advance(1_000);
    expect(take('a').ok).toBe(true);
  });

  it('neither grants nor locks out when the clock was set back', () => {
    const { take, clock } = setup(2);
    take('a');
    take('a');
    clock.advance(-3_600_000);
    expect(take('a').ok).toBe(false);
    clock.advance(30_000);
    expect(take('a').ok).toBe(true);
  });

  it('keeps a promise: after the seconds it names there is a turn', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.nat({ max: 2_000 }), { maxLength: 40 }),
        (perMinute, pauses) => {
          const { take, clock } = setup(perMinute);
          for (let turn = 0; turn < perMinute; turn += 1) take('a');
          for (const pause of pauses) {
            clock.advance(pause);
            const turn = take('a');
            if (turn.ok) continue;
            expect(
              Number.isSafeInteger(turn.retryAfterSeconds) && turn.retryAfterSeconds >= 1,
            ).toBe(true);
            clock.advance(turn.retryAfterSeconds * 1_000 + 1);
            expect(take('a').ok).toBe(true);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('never grants more in a minute than twice its rate, however the requests come', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.nat({ max: 5_000 }), { maxLength: 100 }),
        (perMinute, pauses) => {
          const { take, clock } = setup(perMinute);
          const grantedAt: number[] = [];
          for (const pause of pauses) {
            clock.advance(pause);
            if (take('a').ok) grantedAt.push(clock.now());
          }
          for (const start of grantedAt)
            expect(
              grantedAt.filter((at) => at >= start && at < start + 60_000).length,
            ).toBeLessThanOrEqual(2 * perMinute);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('keeps a bounded table: of more than 10,000 keys the one that was quiet longest is forgotten', () => {
    const { take } = setup(1);
    take('asking');
    take('quiet');
    for (let key = 0; key < 9_998; key += 1) take(String(key));
    expect(take('asking').ok).toBe(false);
    take('one more');
    expect(take('asking').ok).toBe(false);
    expect(take('9997').ok).toBe(false);
    expect(take('quiet').ok).toBe(true);
  });
});
