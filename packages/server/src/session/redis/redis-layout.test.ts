import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EndReason, SessionOwner } from '../session-store.ts';
import {
  createRedisLayout,
  parseIds,
  parseReasonDigit,
  toIdBytes,
  toReasonDigit,
} from './redis-layout.ts';

const KEY = new Uint8Array(16).fill(7);
const OWNERS: readonly SessionOwner[] = [
  { kind: 'principal', key: KEY },
  { kind: 'sid', key: KEY },
];

describe('the keys of the Redis store', () => {
  it('all begin with the deployment’s hash tag, so that a cluster keeps them together', () => {
    const layout = createRedisLayout('core-1');
    const keys = [
      layout.ends,
      layout.revoked,
      layout.record(1),
      layout.lease(1),
      layout.reason(1),
      ...OWNERS.map((owner) => layout.mark(owner)),
      layout.claim(KEY),
      layout.turn(KEY),
    ].map((key) => Buffer.from(key).toString('latin1'));
    for (const key of keys) expect(key.startsWith('{core-1}:')).toBe(true);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('differ for different sessions, owners, claims and deployments', () => {
    const [one, other] = [createRedisLayout('a'), createRedisLayout('b')];
    expect(one.record(1)).toEqual(one.record(1));
    expect(one.record(1)).not.toEqual(one.record(256));
    expect(one.record(1)).not.toEqual(other.record(1));
    expect(one.claim(KEY)).not.toEqual(one.claim(new Uint8Array(16)));
    expect(one.turn(KEY)).not.toEqual(one.turn(new Uint8Array(16)));
  });
});

describe('ids', () => {
  it('are read back in order, one behind the other', () => {
    const id = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(fc.array(id), (ids) => {
        expect(parseIds(Buffer.concat(ids.map(toIdBytes)))).toEqual(ids);
      }),
    );
  });

  it('that are not whole are none', () => {
    expect(parseIds(Buffer.alloc(5))).toEqual([]);
    expect(parseIds(Buffer.alloc(11))).toEqual([0]);
  });
});

describe('reasons', () => {
  // Digits in a store outlive a release, so the table may only grow.
  it.each<[EndReason, string]>([
    ['signed_out', '0'],
    ['session_replaced', '1'],
    ['session_revoked', '2'],
    ['renewal_refused', '3'],
    ['renewal_lost', '4'],
  ])('%s is %s, for ever', (reason, digit) => {
    expect(toReasonDigit(reason)).toBe(digit);
    expect(parseReasonDigit(digit)).toBe(reason);
  });

  it.each(['', ' ', '9', '00', '-1', '1e0', 'signed_out'])('%j is none', (digit) => {
    expect(parseReasonDigit(digit)).toBeUndefined();
  });
});
