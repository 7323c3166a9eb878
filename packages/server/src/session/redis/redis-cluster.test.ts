import { describe, expect, it } from 'vitest';
import { hashSlot } from './redis-cluster.ts';

describe('the slot of a hash tag', () => {
  // The first is the check value of CRC-16/XMODEM (31C3), the others a server's own CLUSTER KEYSLOT.
  it.each([
    ['123456789', 0x31c3 % 16_384],
    ['foo', 12_182],
    ['bar', 5_061],
    ['user1000', 3_443],
    ['', 0],
  ])('%j is %d', (tag, slot) => {
    expect(hashSlot(tag)).toBe(slot);
  });
});
