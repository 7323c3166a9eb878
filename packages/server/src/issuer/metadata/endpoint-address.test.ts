import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findEndpointProblem } from './endpoint-address.ts';

const ISSUER = 'https://idp.example';
const CLUSTER = 'http://idp.auth.svc:8080';

describe('an endpoint', () => {
  it.each([
    [ISSUER, `${ISSUER}/keys`],
    [ISSUER, 'https://keys.example/keys'],
    [ISSUER, 'https://203.0.113.1/keys'],
    ['http://localhost:9000', 'http://localhost:9000/jwks'],
    ['http://127.0.0.1:9000', 'http://[::1]:9001/jwks'],
    ['http://127.0.0.1:9000', 'https://idp.example/jwks'],
    ['https://10.0.0.5', 'https://10.0.0.6/jwks'],
    ['https://10.0.0.5', 'https://10.0.0.5/jwks'],
    ['https://localhost:9000', 'https://127.0.0.1:9000/jwks'],
    [CLUSTER, 'https://idp.example/keys'],
  ])('of %s may be %s', (issuer, address) => {
    expect(findEndpointProblem(issuer, address)).toBeUndefined();
  });

  it.each([
    [CLUSTER, `${CLUSTER}/keys`, CLUSTER],
    [ISSUER, `${CLUSTER}/keys`, CLUSTER],
    [ISSUER, 'http://10.0.0.5:8080/keys', 'http://10.0.0.5:8080'],
    [ISSUER, 'HTTP://IDP.auth.svc:8080/token?x', CLUSTER],
  ])(
    'of %s may be %s where %s is allowed by name, and not elsewhere',
    (issuer, address, origin) => {
      expect(findEndpointProblem(issuer, address, [origin])).toBeUndefined();
      expect(findEndpointProblem(issuer, address, [])).toBe('not_https');
      expect(findEndpointProblem(issuer, address, [`${origin}1`, 'http://idp.auth.svc'])).toBe(
        'not_https',
      );
    },
  );

  it.each<readonly [string, unknown, string]>([
    [ISSUER, 'http://idp.example/keys', 'not_https'],
    [ISSUER, 'http://localhost/keys', 'not_https'],
    ['https://localhost:9000', 'http://127.0.0.1:9000/jwks', 'not_https'],
    ['http://localhost:9000', 'http://idp.example/keys', 'not_https'],
    [ISSUER, 'ftp://idp.example/keys', 'not_https'],
    [ISSUER, 'file:///etc/passwd', 'not_https'],
    [ISSUER, 'data:application/json,{}', 'not_https'],
    [ISSUER, 'javascript:alert(1)', 'not_https'],
    [CLUSTER, 'javascript:alert(1)', 'not_https'],
    [CLUSTER, 'file:///etc/passwd', 'not_https'],
    [CLUSTER, `${CLUSTER}/keys`, 'not_https'],
    [CLUSTER, 'http://127.0.0.1:8080/keys', 'not_https'],
    [CLUSTER, 'http://10.0.0.1/keys', 'not_https'],
    [CLUSTER, 'https://10.0.0.1/keys', 'internal'],
    [ISSUER, '/keys', 'malformed'],
    [ISSUER, '', 'malformed'],
    [ISSUER, 7, 'malformed'],
    [ISSUER, null, 'malformed'],
    [ISSUER, [`${ISSUER}/keys`], 'malformed'],
    [ISSUER, `${ISSUER}/keys#x`, 'malformed'],
    [ISSUER, `${ISSUER}/${'k'.repeat(2_048)}`, 'malformed'],
    [ISSUER, 'https://a:b@idp.example/keys', 'malformed'],
    ...[
      '127.0.0.1',
      '10.1.2.3',
      '172.16.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '[::1]',
      '[::]',
      '[fd00::1]',
      '[fe80::1]',
      '[::ffff:10.0.0.1]',
      '2130706433',
      '0x7f.1',
      'localhost',
      'idp.localhost',
    ].map((host) => [ISSUER, `https://${host}/keys`, 'internal'] as const),
  ])('of %s may not be %j: %s', (issuer, address, problem) => {
    expect(findEndpointProblem(issuer, address)).toBe(problem);
  });

  it('that is let through is on https, or at an origin that is allowed by name', () => {
    const address = fc.oneof(
      fc.webUrl(),
      fc.string(),
      fc
        .tuple(
          fc.constantFrom('http:', 'https:', 'javascript:', 'file:', 'HTTPS:', ' https:', 'http:/'),
          fc.oneof(fc.webUrl(), fc.constant(`${CLUSTER}/keys`)),
        )
        .map(([scheme, url]) => url.replace(/^https?:/, scheme)),
    );
    fc.assert(
      fc.property(fc.constantFrom(ISSUER, CLUSTER), address, (issuer, text) => {
        if (findEndpointProblem(issuer, text, [CLUSTER]) !== undefined) return;
        const { protocol, origin } = new URL(text);
        expect(protocol === 'https:' || origin === CLUSTER).toBe(true);
      }),
    );
  });
});
