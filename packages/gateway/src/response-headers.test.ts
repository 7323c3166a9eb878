import { HOP_BY_HOP_HEADERS } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { flattenHeaders, selectClientHeaders } from './response-headers.ts';

describe('selectClientHeaders', () => {
  it.each([...HOP_BY_HOP_HEADERS])('drops %s of a backend', (name) => {
    expect(selectClientHeaders([name, 'x', 'etag', 'y'], undefined)).toEqual([['etag', 'y']]);
  });

  it('leaves a cacheable answer alone when no cookie is added', () => {
    const raw = ['cache-control', 'public, max-age=60', 'set-cookie', 'a=1', 'set-cookie', 'b=2'];
    expect(selectClientHeaders(raw, undefined)).toEqual([
      ['cache-control', 'public, max-age=60'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ]);
  });

  it.each([
    [[], 'private'],
    [['cache-control', 'public, max-age=60'], 'private, max-age=60'],
    [['cache-control', 'Public', 'cache-control', 's-maxage=9, immutable'], 'private, immutable'],
    [['cache-control', 'no-store'], 'no-store'],
    [['cache-control', 'private, max-age=5'], 'private, max-age=5'],
    [['cdn-cache-control', 'public', 'Surrogate-Control', 'max-age=60'], 'private'],
    [['X-Accel-Expires', '60', 'expires', 'Thu, 01 Jan 2037 00:00:00 GMT'], 'private'],
    [['Cloudflare-CDN-Cache-Control', 'public', 'edge-control', 'max-age=60'], 'private'],
  ])('keeps shared caches from storing a session cookie: %j -> %s', (raw, cacheControl) => {
    expect(selectClientHeaders(raw, 'core_session=s')).toEqual([
      ['cache-control', cacheControl],
      ['set-cookie', 'core_session=s'],
    ]);
  });

  it('appends the cookie behind those of the backend', () => {
    const headers = selectClientHeaders(['set-cookie', 'a=1'], 'core_session=s');
    expect(headers.filter(([name]) => name === 'set-cookie')).toEqual([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'core_session=s'],
    ]);
  });
});

describe('flattenHeaders', () => {
  it('repeats a name that came repeatedly', () => {
    expect(flattenHeaders({ etag: 'x', 'set-cookie': ['a=1', 'b=2'], gone: undefined })).toEqual([
      'etag',
      'x',
      'set-cookie',
      'a=1',
      'set-cookie',
      'b=2',
    ]);
  });
});
