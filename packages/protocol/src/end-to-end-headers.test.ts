import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selectEndToEndHeaders } from './end-to-end-headers.ts';
import { HOP_BY_HOP_HEADERS } from './header-names.ts';

describe('selectEndToEndHeaders', () => {
  it('keeps order, repetition and values, and lowers names', () => {
    expect(selectEndToEndHeaders(['Set-Cookie', 'A=1', 'X-B', 'C', 'set-cookie', 'd=2'])).toEqual([
      ['set-cookie', 'A=1'],
      ['x-b', 'C'],
      ['set-cookie', 'd=2'],
    ]);
  });

  it.each([...HOP_BY_HOP_HEADERS])('RFC 9110 7.6.1: drops %s', (name) => {
    expect(selectEndToEndHeaders([name.toUpperCase(), 'x', 'x-kept', 'y'])).toEqual([
      ['x-kept', 'y'],
    ]);
  });

  it('RFC 9110 7.6.1: drops what any Connection field lists, in any case', () => {
    const raw = ['X-One', '1', 'Connection', 'x-two, X-One', 'X-Two', '2', 'connection', 'x-three'];
    expect(selectEndToEndHeaders([...raw, 'x-three', '3', 'x-four', '4'])).toEqual([
      ['x-four', '4'],
    ]);
  });

  it('drops HTTP/2 pseudo-headers', () => {
    expect(selectEndToEndHeaders([':method', 'GET', 'a', 'b'])).toEqual([['a', 'b']]);
  });

  it('never lets a hop-by-hop field through, whatever surrounds it', () => {
    const name = fc.oneof(
      fc.constantFrom(...HOP_BY_HOP_HEADERS),
      fc.string({ minLength: 1, maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string())), (pairs) => {
        for (const [kept] of selectEndToEndHeaders(pairs.flat()))
          expect(HOP_BY_HOP_HEADERS.has(kept) || kept.startsWith(':')).toBe(false);
      }),
    );
  });
});
