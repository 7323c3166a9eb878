import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitString, context, oid, sequence, TAG, time, unsigned, value } from './der.ts';

describe('DER', () => {
  it.each([
    [0, '0400'],
    [127, '047f'],
    [128, '048180'],
    [255, '0481ff'],
    [256, '04820100'],
    [65_536, '0483010000'],
  ])('a length of %i is written in the fewest octets', (length, head) => {
    const written = value(TAG.octetString, Buffer.alloc(length));
    expect(written.subarray(0, head.length / 2).toString('hex')).toBe(head);
    expect(written).toHaveLength(head.length / 2 + length);
  });

  it.each([
    ['2.5.29.14', '0603551d0e'],
    ['1.2.840.10045.4.3.2', '06082a8648ce3d040302'],
    ['1.3.6.1.5.5.7.3.1', '06082b06010505070301'],
  ])('object identifier %s', (dotted, hex) => {
    expect(oid(dotted).toString('hex')).toBe(hex);
  });

  it.each([
    ['00', '020100'],
    ['0000', '020100'],
    ['7f', '02017f'],
    ['80', '02020080'],
    ['0001', '020101'],
    ['ff00', '020300ff00'],
  ])('%s is an unsigned integer in its shortest form', (magnitude, hex) => {
    expect(unsigned(Buffer.from(magnitude, 'hex')).toString('hex')).toBe(hex);
  });

  it('an unsigned integer keeps its value and is never negative', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (magnitude) => {
        const content = unsigned(magnitude).subarray(2);
        expect((content[0] ?? 0) & 0x80).toBe(0);
        expect(BigInt(`0x${content.toString('hex')}`)).toBe(
          BigInt(`0x${Buffer.from(magnitude).toString('hex')}`),
        );
      }),
    );
  });

  it.each([
    [Date.UTC(2026, 10, 21, 7, 16, 15, 999), '170d3236313132313037313631355a'],
    [Date.UTC(2049, 11, 31, 23, 59, 59), '170d3439313233313233353935395a'],
    [Date.UTC(2050, 0, 1), '180f32303530303130313030303030305a'],
  ])('RFC 5280: %i is UTCTime to 2049 and GeneralizedTime from 2050', (epochMs, hex) => {
    expect(time(epochMs).toString('hex')).toBe(hex);
  });

  it('bit strings, sequences and context tags', () => {
    expect(bitString(Buffer.from([0b0000_0110]), 7).toString('hex')).toBe('03020106');
    expect(bitString(Buffer.from([1, 2])).toString('hex')).toBe('0303000102');
    expect(sequence(Buffer.from([5, 0])).toString('hex')).toBe('30020500');
    expect(context(3, 'constructed', Buffer.from([5, 0])).toString('hex')).toBe('a3020500');
    expect(context(2, 'primitive', Buffer.from('a')).toString('hex')).toBe('820161');
  });
});
