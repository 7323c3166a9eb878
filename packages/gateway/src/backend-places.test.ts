import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type BackendPlaces, createBackendPlaces } from './backend-places.ts';

const LIMITS = { placesMax: 2, waitingMax: 2, waitMs: 1_000 };

/** Enters, and notes under a name what becomes of it. */
function visit(places: BackendPlaces, log: string[], name: string): () => void {
  return places.enter({
    start: () => log.push(`${name} starts`),
    refused: () => log.push(`${name} refused`),
  });
}

describe('the places of a backend', () => {
  it('are given at once while there are some, and then in the order of arrival', () => {
    const places = createBackendPlaces(LIMITS);
    const log: string[] = [];
    const [a, b] = ['a', 'b', 'c', 'd'].map((name) => visit(places, log, name));
    expect(log).toEqual(['a starts', 'b starts']);
    b?.();
    b?.();
    expect(log.slice(2)).toEqual(['c starts']);
    a?.();
    expect(log.slice(3)).toEqual(['d starts']);
  });

  it('are not kept for a request that has left the line', () => {
    const places = createBackendPlaces(LIMITS);
    const log: string[] = [];
    const [a, , c] = ['a', 'b', 'c', 'd'].map((name) => visit(places, log, name));
    c?.();
    a?.();
    expect(log).toEqual(['a starts', 'b starts', 'd starts']);
  });

  it('are refused to a request when too many wait, and to one that has waited for too long', () => {
    vi.useFakeTimers();
    try {
      const places = createBackendPlaces(LIMITS);
      const log: string[] = [];
      const leave = ['a', 'b', 'c', 'd', 'e'].map((name) => visit(places, log, name));
      expect(log.slice(2)).toEqual(['e refused']);
      vi.advanceTimersByTime(LIMITS.waitMs - 1);
      leave[0]?.();
      vi.advanceTimersByTime(1);
      expect(log.slice(3)).toEqual(['c starts', 'd refused']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('are never lost and never given twice, in whatever order requests come and go', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 30 }), { maxLength: 200 }), (steps) => {
        const places = createBackendPlaces({ ...LIMITS, waitingMax: 5 });
        const visits: { state: 'waits' | 'starts' | 'over'; leave: () => void }[] = [];
        for (const step of steps) {
          const leaving = visits[step];
          if (leaving !== undefined) {
            leaving.state = 'over';
            leaving.leave();
          } else {
            const entry = { state: 'waits' as 'waits' | 'starts' | 'over', leave: () => {} };
            entry.leave = places.enter({
              start: () => {
                expect(entry.state).toBe('waits');
                entry.state = 'starts';
              },
              refused: () => {
                entry.state = 'over';
              },
            });
            visits.push(entry);
          }
          const count = (state: string) => visits.filter((each) => each.state === state).length;
          expect(count('starts')).toBeLessThanOrEqual(LIMITS.placesMax);
          if (count('starts') < LIMITS.placesMax) expect(count('waits')).toBe(0);
        }
        for (const each of visits) each.leave();
      }),
    );
  });
});
