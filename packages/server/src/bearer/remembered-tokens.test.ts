import { describe, expect, it } from 'vitest';
import type { Verdict } from '../verdict/verdict.ts';
import { RememberedTokens } from './remembered-tokens.ts';

const VERDICT: Verdict = { outcome: 'refused', reason: 'bearer_not_accepted' };
const entry = { verdict: VERDICT, decidedAt: 100, until: 200, generation: 1 };

describe('a remembered verdict', () => {
  it('stands from its decision to its end, under its generation', () => {
    const tokens = new RememberedTokens(10);
    tokens.set('a', entry);
    expect(tokens.get('a', 100, 1)).toBe(VERDICT);
    expect(tokens.get('a', 199, 1)).toBe(VERDICT);
  });

  it.each([
    ['before its decision, when the clock was set back', 'a', 99, 1],
    ['from its end on', 'a', 200, 1],
    ['under a later generation', 'a', 100, 2],
    ['under an earlier generation', 'a', 100, 0],
    ['for another token', 'b', 100, 1],
    ['for a name of every object', 'constructor', 100, 1],
  ] as const)('does not stand %s', (_, key, now, generation) => {
    const tokens = new RememberedTokens(10);
    tokens.set('a', entry);
    expect(tokens.get(key, now, generation)).toBeUndefined();
  });
});

describe('the memory', () => {
  it('never holds more than its limit, and always the newest half of it', () => {
    const tokens = new RememberedTokens(10);
    for (let number = 0; number < 1_000; number += 1) {
      tokens.set(`t${number}`, entry);
      tokens.set(`t${number}`, entry);
      expect(tokens.size).toBeLessThanOrEqual(10);
      for (let back = 0; back < Math.min(5, number + 1); back += 1)
        expect(tokens.get(`t${number - back}`, 150, 1)).toBe(VERDICT);
    }
    expect(tokens.get('t0', 150, 1)).toBeUndefined();
  });

  it('keeps one entry for a token that is set again', () => {
    const tokens = new RememberedTokens(4);
    for (let number = 0; number < 3; number += 1) tokens.set(`t${number}`, entry);
    const newer = { ...entry, verdict: { ...VERDICT } };
    tokens.set('t0', newer);
    expect(tokens.get('t0', 150, 1)).toBe(newer.verdict);
    expect(tokens.size).toBeLessThanOrEqual(4);
  });

  it('lets go once a minute of what stands no longer, without being asked for it', () => {
    const tokens = new RememberedTokens(10);
    const decided = (decidedAt: number) => ({ ...entry, decidedAt, until: decidedAt + 60_000 });
    tokens.set('a', decided(0));
    tokens.set('b', decided(30_000));
    tokens.set('c', decided(59_999));
    expect(tokens.size).toBe(3);
    tokens.set('d', decided(60_000));
    expect(tokens.size).toBe(3);
    tokens.set('e', decided(119_999));
    expect(tokens.size).toBe(4);
    tokens.set('f', decided(120_000));
    const standing = 'a b c d e f'
      .split(' ')
      .filter((key) => tokens.get(key, 120_000, 1) !== undefined);
    expect(standing).toEqual(['e', 'f']);
    expect(tokens.size).toBe(2);
  });
});
