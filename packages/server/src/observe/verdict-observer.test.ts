import { describe, expect, it } from 'vitest';
import type { CheckRequest } from '../verdict/check-request.ts';
import type { Verdict } from '../verdict/verdict.ts';
import { combineObservers, observeCheck } from './verdict-observer.ts';

const REFUSED: Verdict = { outcome: 'refused', reason: 'no_credential' };
const UNDECIDED: Verdict = {
  outcome: 'undecided',
  reason: 'store_unavailable',
  retryAfterSeconds: 1,
};
const REQUEST: CheckRequest = { method: 'GET', headers: {}, rawHeaders: [], transport: 'http' };

describe('observeCheck', () => {
  it('reports door, verdict and request of a remembered verdict, and returns it in the same turn', () => {
    const observed: unknown[] = [];
    const check = observeCheck(
      () => REFUSED,
      'me',
      (...all) => observed.push(all),
    );
    expect(check(REQUEST)).toBe(REFUSED);
    expect(observed).toEqual([['me', REFUSED, REQUEST]]);
  });

  it('reports one that had to be decided once it is, and changes nothing of it', async () => {
    const observed: unknown[] = [];
    const check = observeCheck(
      () => Promise.resolve(UNDECIDED),
      'gateway',
      (...all) => observed.push(all),
    );
    const verdict = check(REQUEST);
    expect(observed).toEqual([]);
    expect(await verdict).toBe(UNDECIDED);
    expect(observed).toEqual([['gateway', UNDECIDED, REQUEST]]);
  });
});

describe('combineObservers', () => {
  const observed: string[] = [];
  const named = (name: string) => () => void observed.push(name);

  it('reports each in its order, and leaves absent ones out', () => {
    observed.length = 0;
    const { length } = observed;
    combineObservers(named('a'), undefined, named('b'), named('c'))('me', REFUSED, REQUEST);
    expect([length, observed]).toEqual([0, ['a', 'b', 'c']]);
  });

  it('is the only one itself, so that nothing stands between, and none does nothing', () => {
    const only = named('a');
    expect(combineObservers(undefined, only)).toBe(only);
    expect(combineObservers()('me', REFUSED, REQUEST)).toBeUndefined();
  });
});
