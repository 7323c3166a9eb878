import { createStoredSession } from '@sallyport/testing/store-contracts/session-store-contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredSession } from '../session-store.ts';
import { decodeRecord, encodeRecord } from './redis-record.ts';

const TIME = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const bytes = (maxLength: number) => fc.uint8Array({ maxLength });

const session: fc.Arbitrary<StoredSession> = fc.record({
  id: TIME,
  generation: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
  metadata: bytes(600),
  tokens: bytes(600),
  lastUsedAt: TIME,
  absoluteEnd: TIME,
  idleTimeoutMs: TIME,
  principalKey: bytes(255),
  sidKey: fc.option(fc.uint8Array({ minLength: 1, maxLength: 255 }), { nil: undefined }),
  signInAt: TIME,
  renewalSent: fc.boolean(),
});

describe('a record in Redis', () => {
  it('gives back what was written, whatever the parts hold', () => {
    fc.assert(
      fc.property(session, (written) => {
        expect(decodeRecord(written.id, encodeRecord(written))).toEqual(written);
      }),
    );
  });

  it('is 36 bytes longer than its parts', () => {
    const plain = createStoredSession(1);
    const { metadata, tokens, principalKey } = plain;
    const parts = metadata.length + tokens.length + principalKey.length;
    expect(encodeRecord(plain)).toHaveLength(parts + 36);
    const full = { ...plain, sidKey: new Uint8Array(16) };
    expect(encodeRecord(full)).toHaveLength(parts + 36 + 16);
  });

  it.each([0, 2, 255])('of version %d is not guessed at', (version) => {
    const record = encodeRecord(createStoredSession(1));
    record.writeUInt8(version, 0);
    expect(decodeRecord(1, record)).toBeUndefined();
  });

  it('that is cut short before its tokens is none', () => {
    const written = createStoredSession(1, { sidKey: new Uint8Array(16) });
    const record = encodeRecord(written);
    const head = record.length - written.tokens.length;
    for (const length of [0, 1, 35, 36, head - 1])
      expect(decodeRecord(1, record.subarray(0, length)), String(length)).toBeUndefined();
    expect(decodeRecord(1, record.subarray(0, head))?.tokens).toHaveLength(0);
  });

  it('is read from any bytes without a failure', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (noise, isOurs) => {
        const record = Buffer.from(noise);
        if (isOurs && record.length > 0) record.writeUInt8(1, 0);
        expect(() => decodeRecord(1, record)).not.toThrow();
      }),
    );
  });
});
