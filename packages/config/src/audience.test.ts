import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listAudienceSpellings } from './audience.ts';

describe('the spellings of an audience', () => {
  const sorted = (audience: string) => listAudienceSpellings(audience).toSorted();

  it.each([
    ['http://admin', ['http://admin', 'http://admin/', 'http://admin:80', 'http://admin:80/']],
    ['http://admin:80/', ['http://admin', 'http://admin/', 'http://admin:80', 'http://admin:80/']],
    ['http://admin:8080', ['http://admin:8080', 'http://admin:8080/']],
    ['http://admin:443', ['http://admin:443', 'http://admin:443/']],
    [
      'https://a.example:443',
      [
        'https://a.example',
        'https://a.example/',
        'https://a.example:443',
        'https://a.example:443/',
      ],
    ],
    ['https://a.example/api/', ['https://a.example/api/', 'https://a.example:443/api/']],
    ['https://a.example/api', ['https://a.example/api', 'https://a.example:443/api']],
    ['http://[::1]:9000', ['http://[::1]:9000', 'http://[::1]:9000/']],
    [
      'HTTPS://A.Example',
      [
        'HTTPS://A.Example',
        'HTTPS://A.Example/',
        'HTTPS://A.Example:443',
        'HTTPS://A.Example:443/',
      ],
    ],
  ])('%s are with and without the default port and the slash of an empty path', (audience, all) => {
    expect(sorted(audience)).toEqual(all);
  });

  it.each([
    'api',
    'api://core',
    'urn:x:y',
    '',
    'http:admin',
    'http://a@admin',
    'http://admin#x',
    'http://',
    'http://admin/#',
    ' http://admin',
  ])('%j are itself alone', (audience) => {
    expect(listAudienceSpellings(audience)).toEqual([audience]);
  });

  it('begin with the written one, are all the same resource, and say the same of themselves', () => {
    const url = fc.webUrl({ withQueryParameters: true, validSchemes: ['http', 'https'] });
    fc.assert(
      fc.property(fc.oneof(url, fc.string(), fc.webAuthority()), (audience) => {
        const spellings = listAudienceSpellings(audience);
        expect(spellings[0]).toBe(audience);
        expect(new Set(spellings).size).toBe(spellings.length);
        expect(spellings.length).toBeLessThanOrEqual(4);
        for (const spelling of spellings) {
          expect(URL.parse(spelling)?.href).toBe(URL.parse(audience)?.href);
          expect(new Set(listAudienceSpellings(spelling))).toEqual(new Set(spellings));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
