import { describe, expect, it } from 'vitest';
import type { Kind } from './kind.ts';
import {
  addressRangeKind,
  bearerHeaderKind,
  clientEndpointKind,
  domainKind,
  labelNameKind,
  listenHostKind,
  queryParameterKind,
  secretNameKind,
  strippedHeaderKind,
  trustedProxyKind,
  unixSocketKind,
} from './name.ts';

function keep(kind: Kind<string>, value: unknown): string | undefined {
  const parsed = kind.parse(value);
  return parsed.ok ? parsed.value : undefined;
}

describe('a bearer header', () => {
  it.each([
    ['core-authorization', 'core-authorization'],
    ['Core-Authorization', 'core-authorization'],
    ['authorization', 'authorization'],
  ])('%s is kept as %s', (text, name) => {
    expect(keep(bearerHeaderKind, text)).toBe(name);
  });

  it.each([
    ...'cookie Set-Cookie host X-User-Subject x_user_email x-amzn-oidc-data connection'.split(' '),
    ...'proxy-authorization te content-type sec-fetch-site origin x-forwarded-for'.split(' '),
    ...'x-original-method x-scheme grpcgateway-x-user-name grpc-timeout token-bin :authority core_authorization ü 1a'.split(
      ' ',
    ),
    'core authorization',
    'a\r\nb',
    '',
  ])('%j is refused', (text) => {
    expect(keep(bearerHeaderKind, text)).toBeUndefined();
  });
});

describe('a header to strip', () => {
  it.each([
    ['X-Remote-User', 'x-remote-user'],
    ['X_Remote_User', 'x-remote-user'],
    ['x-forwarded-email', 'x-forwarded-email'],
    ['X-User-Name', 'x-user-name'],
  ])('%s is kept as %s', (text, name) => {
    expect(keep(strippedHeaderKind, text)).toBe(name);
  });

  it.each(['cookie', 'Host', 'content_length', 'Connection', 'a b', 'a:', ''])(
    '%j is refused',
    (text) => {
      expect(keep(strippedHeaderKind, text)).toBeUndefined();
    },
  );
});

describe('idpQueryParameter', () => {
  it.each(['idp', 'kc_idp_hint', 'connection', 'domain_hint', 'fi'])('%s is taken', (name) => {
    expect(keep(queryParameterKind, name)).toBe(name);
  });

  it.each([
    ...'redirect_url redirect_uri prompt mode account client_id State nonce code_challenge request'.split(
      ' ',
    ),
    ...'scope response_type a&b a=b __proto__ 1 ü'.split(' '),
    'a b',
    '',
  ])('%j is refused', (name) => {
    expect(keep(queryParameterKind, name)).toBeUndefined();
  });
});

describe('addresses', () => {
  it.each(['10.0.0.0/8', '10.1.2.3', '0.0.0.0/0', '::1', 'fd00::/8', '::/0', '2001:db8::1/128'])(
    'range %s is taken',
    (range) => {
      expect(keep(addressRangeKind, range)).toBe(range);
    },
  );

  it.each(['10.0.0.0/8', '::1', 'unix'])('proxy %s is taken', (proxy) => {
    expect(keep(trustedProxyKind, proxy)).toBe(proxy);
  });

  it.each(['UNIX', 'unix:', 'unix:/run/s', 'proxy', '10.0.0.0/33'])(
    'proxy %j is refused',
    (proxy) => {
      expect(keep(trustedProxyKind, proxy)).toBeUndefined();
    },
  );

  it.each([
    'unix:/s',
    'unix:/run/sallyport/sallyport.sock',
    'unix:/run/..x/.s',
    `unix:/${'s'.repeat(79)}`,
  ])('socket %s is taken', (socket) => {
    expect(keep(unixSocketKind, socket)).toBe(socket);
  });

  it.each([
    'unix:',
    'unix:/',
    'unix:/run/',
    'unix://run/s',
    'unix:run/s',
    'unix:/run/./s',
    'unix:/run/../s',
    'unix:/run/..',
    'unix:/run/a;b',
    'unix:/run/a b',
    '/run/s',
    'UNIX:/run/s',
    `unix:/${'s'.repeat(80)}`,
  ])('socket %j is refused', (socket) => {
    expect(keep(unixSocketKind, socket)).toBeUndefined();
  });

  it.each([
    '10.0.0.0/33',
    '::1/129',
    '10.0.0/8',
    'proxy',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'fe80::1%eth0',
    '10.0.0.0/-1',
    '010.0.0.1',
    '',
  ])('range %j is refused', (range) => {
    expect(keep(addressRangeKind, range)).toBeUndefined();
  });

  it.each([
    ['127.0.0.1', true],
    ['0.0.0.0', true],
    ['::', true],
    ['localhost', true],
    ['', false],
    ['localhost:80', false],
    ['http://a', false],
  ])('listen host %j: %s', (host, isTaken) => {
    expect(keep(listenHostKind, host) !== undefined).toBe(isTaken);
  });

  it.each([
    ['Example.com', 'example.com'],
    ['a-b.example.co', 'a-b.example.co'],
    ['example', undefined],
    ['@example.com', undefined],
    ['*.example.com', undefined],
    ['example..com', undefined],
    ['10.0.0.1', undefined],
    ['ada@example.com', undefined],
  ])('domain %s is kept as %s', (text, domain) => {
    expect(keep(domainKind, text)).toBe(domain);
  });

  it.each([
    ['dns:///platform.example.com', true],
    ['platform.example.com:443', true],
    ['dns:///[::1]:8080', true],
    ['https://platform.example.com', true],
    ['http://localhost:8080/', true],
    ['https://platform.example.com/path', false],
    ['https://name@platform.example.com', false],
    ['ftp://platform.example.com', false],
    ['dns://platform.example.com', false],
    ['dns:///<your-domain>', false],
  ])('client endpoint %s: %s', (endpoint, isTaken) => {
    expect(keep(clientEndpointKind, endpoint) !== undefined).toBe(isTaken);
  });

  it.each([
    ['EAGER_API_KEY', true],
    ['eager-api-key', true],
    ['../eager', false],
    ['a b', false],
    ['EAGER_', false],
    ['a_.b', false],
  ])('secret name %s: %s', (name, isTaken) => {
    expect(keep(secretNameKind, name) !== undefined).toBe(isTaken);
  });

  it.each([
    ['sallyport/inject-api-key', true],
    ['example.com/Team_1.a', true],
    ['team', true],
    [`${'a'.repeat(253)}/${'b'.repeat(63)}`, true],
    [`${'a'.repeat(254)}/b`, false],
    ['b'.repeat(64), false],
    ['/name', false],
    ['example.com/', false],
    ['Example.com/name', false],
    ['a/b/c', false],
    ['-a', false],
    ['a b', false],
    ['', false],
  ])('label name %s: %s', (name, isTaken) => {
    expect(keep(labelNameKind, name) !== undefined).toBe(isTaken);
  });
});
