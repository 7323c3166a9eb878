import { honestDocument } from '@sallyport/testing/idp/metadata-server';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAuthorizationServerDocument } from './authorization-server-document.ts';

const ISSUER = 'https://idp.example/tenant';
const HONEST = honestDocument(ISSUER);

function parse(members: Readonly<Record<string, unknown>>, issuer = ISSUER) {
  return parseAuthorizationServerDocument(JSON.stringify({ ...HONEST, ...members }), issuer);
}

describe('parseAuthorizationServerDocument', () => {
  it('passes on the public members it knows, as they are', () => {
    expect(parse({})).toEqual({ ok: true, value: HONEST });
  });

  it.each(['jwks', 'keys', 'client_secret', 'x_internal', '__proto__', 'registration_endpoint'])(
    'leaves out %s, which is not in the list',
    (member) => {
      const text = JSON.stringify(HONEST).replace('{', `{"${member}":{"keys":["secret"]},`);
      expect(parseAuthorizationServerDocument(text, ISSUER)).toEqual({ ok: true, value: HONEST });
    },
  );

  it.each([
    'https://evil.example',
    ISSUER.toUpperCase(),
    'https://idp.example:443/tenant',
    '',
    null,
    [ISSUER],
    [{ toString: false }],
    undefined,
  ])('RFC 8414 section 3.3: the issuer %j is foreign, byte for byte', (issuer) => {
    expect(parse({ issuer })).toEqual({
      ok: false,
      error: { member: 'issuer', problem: 'foreign_issuer', found: issuer },
    });
  });

  it.each([
    [ISSUER, `${ISSUER}/`],
    [`${ISSUER}/`, ISSUER],
  ])(
    'RFC 8414 section 3.3: of %s is foreign with the issuer %s, and the log says why',
    (issuer, named) => {
      expect(parse({ issuer: named }, issuer)).toEqual({
        ok: false,
        error: { member: 'issuer', problem: 'issuer_differs_in_last_slash', found: named },
      });
    },
  );

  it('RFC 8414 section 3.3: takes no other spelling of the issuer', () => {
    fc.assert(
      fc.property(
        fc.nat(ISSUER.length),
        fc.constantFrom('/', '%2F', ' ', '.', '#', '?', ':443', '\u0000', 'A'),
        (at, more) => {
          const issuer = ISSUER.slice(0, at) + more + ISSUER.slice(at);
          expect(parse({ issuer }).ok).toBe(false);
        },
      ),
    );
  });

  it('RFC 8259 section 4: refuses a document that names its issuer twice', () => {
    const text = JSON.stringify(HONEST).replace('{', '{"issuer":"https://evil.example",');
    expect(parseAuthorizationServerDocument(text, ISSUER).ok).toBe(false);
  });

  it.each(['authorization_endpoint', 'token_endpoint'])('is nothing without %s', (member) => {
    expect(parse({ [member]: undefined })).toEqual({
      ok: false,
      error: { member, problem: 'missing' },
    });
  });

  const BAD_ENDPOINTS: readonly (readonly [unknown, string])[] = [
    ['http://idp.example/x', 'not_https'],
    ['http://127.0.0.1/x', 'not_https'],
    ['ftp://idp.example/x', 'not_https'],
    ['javascript:alert(1)', 'not_https'],
    ['file:///etc/passwd', 'not_https'],
    ['https://127.0.0.1/x', 'internal'],
    ['https://ada:secret@idp.example/x', 'malformed'],
    ['https://idp.example/x#fragment', 'malformed'],
    ['/relative', 'malformed'],
    [`https://idp.example/${'x'.repeat(2_048)}`, 'malformed'],
    [42, 'malformed'],
    [['https://idp.example/x'], 'malformed'],
  ];
  const NEEDED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'introspection_endpoint'];
  const OPTIONAL = [
    'userinfo_endpoint',
    'end_session_endpoint',
    'revocation_endpoint',
    'pushed_authorization_request_endpoint',
    'device_authorization_endpoint',
  ];

  it.each(
    [...NEEDED, ...OPTIONAL].flatMap((member) =>
      BAD_ENDPOINTS.map(([value, problem]) => [member, value, problem] as const),
    ),
  )('%s = %j spoils the document: %s', (member, value, problem) => {
    expect(parse({ [member]: value })).toEqual({ ok: false, error: { member, problem } });
  });

  it.each(NEEDED.flatMap((member) => [null, ''].map((value) => [member, value] as const)))(
    '%s = %j spoils the document, too',
    (member, value) => {
      const error = { member, problem: 'malformed' };
      expect(parse({ [member]: value })).toEqual({ ok: false, error });
    },
  );

  it.each(OPTIONAL.flatMap((member) => [null, ''].map((value) => [member, value] as const)))(
    '%s = %j says that there is none',
    (member, value) => {
      const { [member]: _, ...rest } = HONEST;
      expect(parse({ [member]: value })).toEqual({ ok: true, value: rest });
    },
  );

  it.each([
    ['authorization_response_iss_parameter_supported', 'true'],
    ['require_pushed_authorization_requests', 1],
  ])('%s = %j spoils the document: a protection hangs on it', (member, value) => {
    const error = { member, problem: 'malformed' };
    expect(parse({ [member]: value })).toEqual({ ok: false, error });
  });

  it.each([
    ['scopes_supported', 'openid all'],
    ['scopes_supported', [1]],
    ['scopes_supported', ['x'.repeat(2_049)]],
    ['scopes_supported', Array.from({ length: 201 }, String)],
    ['backchannel_logout_supported', 'true'],
  ])('%s = %j is left out', (member, value) => {
    const parsed = parse({ [member]: value });
    expect(parsed.ok && member in parsed.value).toBe(false);
    expect(parsed.ok).toBe(true);
  });

  it.each(['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])(
    'endpoints may be http on the loopback when the issuer is there: %s',
    (issuer) => {
      const document = honestDocument(issuer);
      expect(parseAuthorizationServerDocument(JSON.stringify(document), issuer)).toEqual({
        ok: true,
        value: document,
      });
    },
  );

  it.each(['', 'null', '[]', '"text"', '{', 'not json', '42'])('%j is no document', (text) => {
    expect(parseAuthorizationServerDocument(text, ISSUER)).toEqual({
      ok: false,
      error: { member: 'document', problem: 'not_json' },
    });
  });

  it('whatever it accepts names the issuer, and no endpoint off https', () => {
    const value = fc.oneof(
      fc.constantFrom('https://a.example/x', 'http://a.example/x', 'http://127.0.0.1/x', ''),
      fc.jsonValue(),
    );
    const members = fc.dictionary(
      fc.constantFrom(...Object.keys(HONEST), 'userinfo_endpoint', 'jwks'),
      value,
    );
    fc.assert(
      fc.property(members, (given) => {
        const parsed = parse(given);
        if (!parsed.ok) return;
        expect(parsed.value.issuer).toBe(ISSUER);
        expect(parsed.value).not.toHaveProperty('jwks');
        for (const [member, text] of Object.entries(parsed.value))
          if (/_(?:endpoint|uri)$/.test(member)) expect(text).toMatch(/^https:\/\//);
      }),
    );
  });

  it('whatever it accepts it accepts again, unchanged', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(HONEST)), fc.jsonValue()),
        (given) => {
          const once = parse(given);
          if (!once.ok) return;
          expect(parseAuthorizationServerDocument(JSON.stringify(once.value), ISSUER)).toEqual(
            once,
          );
        },
      ),
    );
  });
});
