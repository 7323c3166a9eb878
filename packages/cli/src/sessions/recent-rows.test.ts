import { createRow } from '@sallyport/testing/cli/sessions';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentRowKeeper } from './recent-rows.ts';

const RUNS = process.env['CI'] === undefined ? 500 : 5_000;

function keep(limit: number, uses: readonly (readonly [string, number])[]) {
  const keeper = new RecentRowKeeper(limit);
  for (const [id, lastUsedAt] of uses) keeper.add(createRow({ id, lastUsedAt }));
  const { rows, total } = keeper.result();
  return { ids: rows.map(({ id }) => id), total };
}

describe('keeping the sessions used last', () => {
  it('puts the one used last first, and says how many there were', () => {
    const uses = [
      ['a', 1],
      ['b', 5],
      ['c', 3],
    ] as const;
    expect(keep(2, uses)).toEqual({ ids: ['b', 'c'], total: 3 });
    expect(keep(3, uses)).toEqual({ ids: ['b', 'c', 'a'], total: 3 });
  });

  it('lists a session once that comes twice', () => {
    const uses = [
      ['a', 1],
      ['b', 2],
      ['a', 1],
    ] as const;
    expect(keep(5, uses)).toEqual({ ids: ['b', 'a'], total: 2 });
  });

  it('keeps the same as sorting all of them would', () => {
    const uses = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{3}$/), fc.nat({ max: 50 })), {
      maxLength: 60,
      selector: ([id]) => id,
    });
    fc.assert(
      fc.property(uses, fc.integer({ min: 1, max: 20 }), (all, limit) => {
        const sorted = all
          .toSorted(([a, atA], [b, atB]) => atB - atA || (a < b ? -1 : 1))
          .map(([id]) => id);
        expect(keep(limit, all)).toEqual({ ids: sorted.slice(0, limit), total: all.length });
      }),
      { numRuns: RUNS },
    );
  });
});
