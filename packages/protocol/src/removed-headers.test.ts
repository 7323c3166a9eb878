import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLAIM_HEADER_PREFIX, IDENTITY_HEADERS } from './header-names.ts';
import { carriedHeaderName, isRemovedHeader, listRemovedHeaders } from './removed-headers.ts';

const LISTED = listRemovedHeaders(['x-own-authorization']);
/** A name in any mixture of case and separators that some server reads as that name. */
function spelt(name: string): fc.Arbitrary<string> {
  return fc
    .tuple(
      ...Array.from(name, (char) =>
        char === '-' ? fc.constantFrom('-', '_', '.') : fc.constantFrom(char, char.toUpperCase()),
      ),
    )
    .map((characters) => characters.join(''));
}

describe('the headers that no client may hand to a backend', () => {
  it.each([
    'Grpc-Metadata-X-User-Subject',
    'grpc_metadata_x_user_anything',
    'Grpcgateway-Authorization',
    'Grpc-Metadata-Authorization',
    'Grpc-Metadata-Core-Authorization',
    'Grpc-Metadata-Cookie',
    'grpcgateway-cookie',
    'Grpc-Metadata-Grpcgateway-Cookie',
    'grpcgateway-grpc-metadata-grpcgateway-x-user-email',
    'Grpc-Metadata-Userinfo-Bin',
    'Grpc-Metadata-X-Forwarded-Host',
    'Grpc-Metadata-Host',
    'userinfo-bin',
    'from_http',
    'X-Auth-Request-User',
    'X-Auth-Request-Anything',
    'X-Envoy-Original-Path',
    'X-Scheme',
    'X-Url-Scheme',
    'Front-End-Https',
    'X-Sent-From',
    'X-Sallyport-Verdict-Key',
    'Transfer_Encoding',
    'Content_Length',
    'Content.Length',
    'Proxy_Authorization',
    'Keep_Alive',
  ])('are %s', (name) => {
    expect(isRemovedHeader(name)).toBe(true);
  });

  it.each([
    ...Object.values(IDENTITY_HEADERS),
    `${CLAIM_HEADER_PREFIX}tenant-id`,
    'X-User-Subject',
    'X_User_Subject',
    'X-USER_SUBJECT',
    'x-user-anything-new',
    'x_user_claim_groups',
    'X-Amzn-Oidc-Identity',
    'x_amzn_oidc_data',
    'x.user.subject',
    'x-user~subject',
    "x'user'subject",
    'x!user|subject',
    'x-amzn.oidc-identity',
  ])('CVE-2025-64484: are the identity names in any spelling, as %s', (name) => {
    expect(isRemovedHeader(name)).toBe(true);
  });

  it.each([
    'x-user',
    'user-agent',
    'my-x-user-subject',
    'x-amzn-trace-id',
    'authorization',
    'core-authorization',
    'cookie',
    'host',
    'content-length',
    'content-type',
    'grpc-timeout',
    'grpc-metadata-tenant',
    'grpc-metadata-',
    'grpc-metadata',
    'grpcgateway-user-agent',
    'x-grpc-metadata-authorization',
    'x-auth-request',
    'x-users-online',
    'x-scheme-version',
    'x-envoy-expected-rq-timeout-ms',
    'traceparent',
    'te-x',
    '',
  ])('are not %s', (name) => {
    expect(isRemovedHeader(name)).toBe(false);
  });

  it('are every listed one in any mixture of case and separators, behind any prefixes', () => {
    const name = fc.constantFrom(...LISTED.plain, ...LISTED.carried).filter(isRemovedHeader);
    const carriers = fc.array(fc.constantFrom('Grpc-Metadata-', 'grpcgateway_'), { maxLength: 3 });
    fc.assert(
      fc.property(name.chain(spelt), carriers, (spelling, prefixes) => {
        expect(isRemovedHeader(prefixes.join('') + spelling)).toBe(true);
      }),
    );
  });

  it('are listed once each, in lower case, plain and behind each prefix', () => {
    const all = [...LISTED.plain, ...LISTED.carried];
    expect(new Set(all).size).toBe(all.length);
    for (const name of all) expect(name).toMatch(/^[a-z][a-z0-9-]*$/);
    for (const name of LISTED.plain)
      for (const carrier of ['grpc-metadata-', 'grpcgateway-'])
        expect(LISTED.carried).toContain(carrier + name);
    for (const name of ['authorization', 'cookie', 'core-authorization', 'x-own-authorization'])
      expect(LISTED.carried).toContain(`grpc-metadata-grpcgateway-${name}`);
  });

  it('are of an installation what it calls its own, behind the prefixes, and nothing else', () => {
    expect(LISTED.carried).toContain('grpc-metadata-x-own-authorization');
    expect(LISTED.plain).not.toContain('x-own-authorization');
    expect(carriedHeaderName('Grpc_Metadata-X-Own_Authorization')).toBe('x-own-authorization');
    expect(carriedHeaderName('X-Own-Authorization')).toBe('x-own-authorization');
    expect(LISTED.carriedCredentials).toContain('grpcgateway-x-own-authorization');
    expect(isRemovedHeader('grpc-metadata-x-own-authorization')).toBe(false);
  });
});
