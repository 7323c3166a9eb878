import { describe, expect, it } from 'vitest';
import { fetchJwksUri, findKeyAddressProblem, listMetadataUrls } from './issuer-metadata.ts';

const ISSUER = 'https://idp.example';

/** Asks a server that has these documents. */
async function ask(
  documents: Readonly<Record<string, unknown>>,
  issuer = ISSUER,
  metadataUrl = '',
): Promise<{ readonly uri: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const uri = await fetchJwksUri(issuer, metadataUrl, async (url) => {
    asked.push(url);
    const document = documents[url];
    if (document instanceof Response) return document;
    return document === undefined ? new Response('', { status: 404 }) : Response.json(document);
  });
  return { uri, asked };
}

const OPENID = `${ISSUER}/.well-known/openid-configuration`;
const OAUTH = `${ISSUER}/.well-known/oauth-authorization-server`;
const GOOD = { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` };

describe('where metadata is looked for', () => {
  it.each([
    [ISSUER, [OPENID, OAUTH]],
    [`${ISSUER}/`, [OPENID, OAUTH]],
    [
      `${ISSUER}/oauth2/default`,
      [
        `${ISSUER}/oauth2/default/.well-known/openid-configuration`,
        `${ISSUER}/.well-known/oauth-authorization-server/oauth2/default`,
      ],
    ],
  ])('OIDC Discovery section 4 and RFC 8414 section 3: %s', (issuer, urls) => {
    expect(listMetadataUrls(issuer, '')).toEqual(urls);
  });

  it('is the configured address alone when there is one', () => {
    expect(listMetadataUrls(ISSUER, 'https://idp.example/meta')).toEqual([
      'https://idp.example/meta',
    ]);
  });

  it('goes on to the second place only after a 404', async () => {
    expect(await ask({ [OPENID]: GOOD })).toEqual({ uri: GOOD.jwks_uri, asked: [OPENID] });
    expect(await ask({ [OAUTH]: GOOD })).toEqual({ uri: GOOD.jwks_uri, asked: [OPENID, OAUTH] });
    const broken = { [OPENID]: new Response('', { status: 500 }), [OAUTH]: GOOD };
    await expect(ask(broken)).rejects.toMatchObject({ code: 'SP_IDP_PROTOCOL' });
  });
});

describe('a metadata document', () => {
  it.each([
    ['of another issuer', { ...GOOD, issuer: 'https://evil.example' }],
    ['of the same issuer with a slash', { ...GOOD, issuer: `${ISSUER}/` }],
    ['of the same issuer in another case', { ...GOOD, issuer: 'https://IdP.example' }],
    ['without issuer', { jwks_uri: GOOD.jwks_uri }],
    ['without keys', { issuer: ISSUER }],
    ['with keys that are no address', { ...GOOD, jwks_uri: 7 }],
    ['that is a list', [GOOD]],
    ['that redirects', new Response('', { status: 302, headers: { location: OAUTH } })],
    ['that is a page', new Response('<html>')],
    [
      'with two issuers',
      new Response(`{"issuer":"x","issuer":"${ISSUER}","jwks_uri":"${ISSUER}/keys"}`),
    ],
  ])('%s is not believed', async (_, document) => {
    await expect(ask({ [OPENID]: document })).rejects.toMatchObject({ code: 'SP_IDP_PROTOCOL' });
  });
});

describe('the address of keys', () => {
  it.each([
    [ISSUER, `${ISSUER}/keys`],
    [ISSUER, 'https://keys.example/keys'],
    [ISSUER, 'https://203.0.113.1/keys'],
    ['http://localhost:9000', 'http://localhost:9000/jwks'],
    ['http://127.0.0.1:9000', 'http://[::1]:9001/jwks'],
    ['https://10.0.0.5', 'https://10.0.0.6/jwks'],
    ['https://10.0.0.5', 'https://10.0.0.5/jwks'],
    ['https://localhost:9000', 'https://127.0.0.1:9000/jwks'],
  ])('of %s may be %s', (issuer, uri) => {
    expect(findKeyAddressProblem(issuer, uri)).toBeUndefined();
  });

  it.each([
    [ISSUER, 'http://idp.example/keys', 'is not https'],
    [ISSUER, 'http://localhost/keys', 'is not https'],
    ['http://localhost:9000', 'http://idp.example/keys', 'is not https'],
    [ISSUER, 'ftp://idp.example/keys', 'is no URL'],
    [ISSUER, 'file:///etc/passwd', 'is no URL'],
    [ISSUER, 'data:application/json,{}', 'is no URL'],
    [ISSUER, '/keys', 'is no URL'],
    [ISSUER, '', 'is no URL'],
    [ISSUER, 'https://a:b@idp.example/keys', 'has user information'],
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
    ].map((host) => [
      ISSUER,
      `https://${host}/keys`,
      'is an internal address, and the issuer is not',
    ]),
  ])('of %s may not be %s: it %s', (issuer = '', uri = '', problem) => {
    expect(findKeyAddressProblem(issuer, uri)).toBe(problem);
  });
});
