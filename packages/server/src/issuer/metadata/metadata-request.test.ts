import { describe, expect, it } from 'vitest';
import { fetchIssuerDocument, listMetadataUrls } from './metadata-request.ts';

const ISSUER = 'https://idp.example';
const OPENID = `${ISSUER}/.well-known/openid-configuration`;
const OAUTH = `${ISSUER}/.well-known/oauth-authorization-server`;
const GOOD = { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` };

/** Asks a server that has these documents. */
async function ask(documents: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const document = await fetchIssuerDocument(ISSUER, listMetadataUrls(ISSUER, ''), async (url) => {
    asked.push(url);
    const found = documents[url];
    if (found instanceof Response) return found;
    return found === undefined ? new Response('', { status: 404 }) : Response.json(found);
  });
  return { document, asked };
}

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
    expect(listMetadataUrls(ISSUER, `${ISSUER}/meta`)).toEqual([`${ISSUER}/meta`]);
  });

  it('goes on to the second place only after a 404', async () => {
    expect(await ask({ [OPENID]: GOOD })).toEqual({ document: GOOD, asked: [OPENID] });
    expect(await ask({ [OAUTH]: GOOD })).toEqual({ document: GOOD, asked: [OPENID, OAUTH] });
    for (const [status, code] of [
      [403, 'SP_IDP_PROTOCOL'],
      [429, 'SP_IDP_UNREACHABLE'],
      [500, 'SP_IDP_UNREACHABLE'],
    ] as const) {
      const broken = { [OPENID]: new Response('', { status }), [OAUTH]: GOOD };
      await expect(ask(broken)).rejects.toMatchObject({ code });
    }
  });
});

describe('a metadata document', () => {
  it.each([
    ['of another issuer', { ...GOOD, issuer: 'https://evil.example' }],
    ['of the same issuer with a slash', { ...GOOD, issuer: `${ISSUER}/` }],
    ['of the same issuer in another case', { ...GOOD, issuer: 'https://IdP.example' }],
    ['without issuer', { jwks_uri: GOOD.jwks_uri }],
    ['with keys that are no address', { ...GOOD, jwks_uri: 7 }],
    ['with keys in a file', { ...GOOD, jwks_uri: 'file:///etc/passwd' }],
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
