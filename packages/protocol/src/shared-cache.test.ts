import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeaderPair } from './header-names.ts';
import {
  isSharedCacheHeader,
  SHARED_CACHE_HEADERS,
  selectUnsharedHeaders,
  withoutSharedCaching,
} from './shared-cache.ts';

describe('an answer with a cookie of ours', () => {
  it.each([
    ...SHARED_CACHE_HEADERS,
    'Expires',
    'CDN-Cache-Control',
    'Some-Vendor-Cache-Control',
    'Some-Vendor-CDN-Cache-Control',
    'X-Surrogate-Control',
    'X_Accel_Expires',
  ])('loses %s', (name) => {
    expect(isSharedCacheHeader(name)).toBe(true);
    const headers = selectUnsharedHeaders([[name.toLowerCase(), 'max-age=60']]);
    expect(headers).toEqual([['cache-control', 'private']]);
  });

  it.each(['cache-control', 'pragma', 'surrogate-key', 'vary', 'etag', 'age', 'cache-tag'])(
    'keeps %s, which grants nothing by itself',
    (name) => {
      expect(isSharedCacheHeader(name)).toBe(false);
    },
  );

  it.each([
    [[], 'private'],
    [['public, max-age=60'], 'private, max-age=60'],
    [['Public', 's-maxage=9, immutable'], 'private, immutable'],
    [['S-MAXAGE = 9'], 'private'],
    [['no-store'], 'no-store'],
    [['private, max-age=5'], 'private, max-age=5'],
    [['private="x-own", public'], 'private, private="x-own"'],
    [['x="a, no-store, b"'], 'private, x="a, no-store, b"'],
    [['proxy-revalidate', ''], 'private'],
  ])('has Cache-Control %j as %s', (values, expected) => {
    expect(withoutSharedCaching(values)).toBe(expected);
  });

  it('lets no shared cache keep it, whatever the backend says, and keeps what else it says', () => {
    const directive = fc.constantFrom('public', 'S-maxage=5', 'max-age=5', 'private', 'no-cache');
    const said = fc.array(
      fc.oneof(
        fc.tuple(
          fc.constant('cache-control'),
          fc.array(directive, { maxLength: 4 }).map((all) => all.join(', ')),
        ),
        fc.tuple(fc.constantFrom(...SHARED_CACHE_HEADERS, 'expires'), fc.constant('public')),
        fc.tuple(fc.constant('x-own'), fc.constant('kept')),
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(said, (headers: HeaderPair[]) => {
        const unshared = selectUnsharedHeaders(headers);
        const control = unshared.filter(([name]) => name === 'cache-control');
        expect(control).toHaveLength(1);
        expect(control[0]?.[1]).toMatch(/\bprivate\b/);
        expect(control[0]?.[1]).not.toMatch(/public|s-maxage/i);
        expect(unshared.some(([name]) => isSharedCacheHeader(name))).toBe(false);
        const own = (list: readonly HeaderPair[]) => list.filter(([name]) => name === 'x-own');
        expect(own(unshared)).toEqual(own(headers));
      }),
    );
  });
});
