import { describe, expect, it } from 'vitest';
import type { Kind } from './kind.ts';
import { audienceUriKind, endpointKind, issuerKind, originKind, redirectUriKind } from './url.ts';

function keep(kind: Kind<string>, value: unknown): string | undefined {
  const parsed = kind.parse(value);
  return parsed.ok ? parsed.value : undefined;
}

describe('an origin', () => {
  it.each([
    ['https://platform.example.com', 'https://platform.example.com'],
    ['https://platform.example.com/', 'https://platform.example.com'],
    ['HTTPS://Platform.Example.com:443', 'https://platform.example.com'],
    ['https://platform.example.com:8443', 'https://platform.example.com:8443'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1', 'http://127.0.0.1'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%s is kept as %s', (text, origin) => {
    expect(keep(originKind, text)).toBe(origin);
  });

  it.each<readonly [value: unknown, why: string]>([
    ['http://platform.example.com', 'http beyond this machine'],
    ['http://localhost.example.com', 'http on a host that only begins like this machine'],
    ['http://[::2]', 'http on another address'],
    ['https://platform.example.com/console', 'a path'],
    ['https://platform.example.com?', 'a query'],
    ['https://platform.example.com/#', 'a fragment'],
    ['https://ada@platform.example.com', 'user information'],
    ['https://:pw@platform.example.com', 'user information'],
    ['platform.example.com', 'no scheme'],
    ['//platform.example.com', 'no scheme'],
    ['https:platform.example.com', 'a repair of WHATWG'],
    ['https:/platform.example.com', 'a repair of WHATWG'],
    ['https:\\\\platform.example.com', 'a repair of WHATWG'],
    ['https://platform.example.com\\x', 'a backslash'],
    ['https://plat\tform.example.com', 'a tab, which WHATWG drops'],
    [' https://platform.example.com', 'white space'],
    ['ftp://platform.example.com', 'another scheme'],
    ['javascript:alert(1)', 'another scheme'],
    ['https://', 'no host'],
    ['https://<your-domain>', 'a stand-in'],
    ['https://{base_url}', 'a stand-in'],
    ['https://*.example.com', 'a wildcard'],
    ['https://platform.example.com:99999', 'no port'],
    ['https://platform.example.com.', 'a trailing dot'],
    [443, 'a number'],
    [null, 'nothing'],
    ['', 'an empty string'],
  ])('%j is refused: %s', (value) => {
    expect(keep(originKind, value)).toBeUndefined();
  });
});

describe('an issuer', () => {
  it.each([
    'https://idp.example.com',
    'https://idp.example.com/',
    'https://idp.example.com/realms/Core',
    'HTTPS://idp.example.com:443/x',
    'http://127.0.0.1:9000',
    'http://localhost:9000/oidc',
    // Whether it may be connected to is a rule's to say: rules/plain-http.test.ts.
    'http://idp.example.com',
  ])('%s is kept byte for byte', (text) => {
    expect(keep(issuerKind, text)).toBe(text);
  });

  it.each([
    'https://idp.example.com?x=1',
    'https://idp.example.com#x',
    'https://a:b@idp.example.com',
    'https://idp.example.com\\realm',
    'https://idp.example.com/a b',
  ])('%s is refused', (text) => {
    expect(keep(issuerKind, text)).toBeUndefined();
  });
});

describe('endpoints and redirect URIs', () => {
  it('of the IdP may have a query and no fragment', () => {
    expect(keep(endpointKind, 'https://idp.example.com/token?p=policy')).toBeDefined();
    expect(keep(endpointKind, 'http://localhost:9000/token')).toBeDefined();
    expect(keep(endpointKind, 'https://idp.example.com/token#x')).toBeUndefined();
  });

  it('of the native app are on the loopback, kept byte for byte', () => {
    expect(keep(redirectUriKind, 'http://localhost:53593/callback')).toBe(
      'http://localhost:53593/callback',
    );
    expect(keep(redirectUriKind, 'http://app.example.com/callback')).toBeUndefined();
  });
});

describe('an authorized URI', () => {
  it.each([
    'http://admin:80',
    'http://admin',
    'http://admin/',
    'http://admin:8080',
    'HTTPS://Platform.example.com:443/',
    'http://admin.cloud-cp.svc.cluster.local:80',
    'https://platform.example.com/api/../x',
  ])('%s is kept as it was written', (text) => {
    expect(keep(audienceUriKind, text)).toBe(text);
  });

  it.each([
    'api://core',
    'service-app',
    '',
    'http://a@admin:80',
    'http://admin:80?x',
    'http:admin',
  ])('%j is refused', (text) => {
    expect(keep(audienceUriKind, text)).toBeUndefined();
  });
});
