import { describe, expect, it } from 'vitest';
import { formatHeaders } from './web-headers.ts';

describe('formatHeaders', () => {
  it('gives each header folded and flat', () => {
    expect(
      formatHeaders([
        ['core-grpc', 'Bearer a'],
        ['accept', 'a, b'],
      ]),
    ).toEqual({
      headers: { 'core-grpc': 'Bearer a', accept: 'a, b' },
      rawHeaders: ['core-grpc', 'Bearer a', 'accept', 'a, b'],
    });
  });

  it.each(['Bearer a, Bearer b', 'Bearer a,bearer b', 'Bearer a,\tBEARER b'])(
    'shows two folded bearers as two: %j',
    (value) => {
      expect(formatHeaders([['authorization', value]]).rawHeaders).toHaveLength(4);
    },
  );

  it.each(['Bearer a', 'Basic a, Basic b', 'Bearer abearer', 'Bearer a,b'])(
    'shows one as one: %j',
    (value) => {
      expect(formatHeaders([['authorization', value]]).rawHeaders).toEqual([
        'authorization',
        value,
      ]);
    },
  );

  it('joins cookies of several fields as RFC 9113 section 8.2.3 says', () => {
    expect(
      formatHeaders([
        ['cookie', 'a=1'],
        ['cookie', 'b=2'],
      ]).headers,
    ).toEqual({
      cookie: 'a=1; b=2',
    });
  });
});
