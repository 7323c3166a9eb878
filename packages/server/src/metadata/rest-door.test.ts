import { honestDocument } from '@sallyport/testing/idp/metadata-server';
import { PUBLIC_ORIGIN } from '@sallyport/testing/server/fixed-check';
import { startFront } from '@sallyport/testing/server/running-front';
import { describe, expect, it } from 'vitest';

describe('discovery over plain HTTP', () => {
  const OAUTH = '/.well-known/oauth-authorization-server';
  const OIDC = '/.well-known/openid-configuration';
  const CONFIG = '/config/v1/flyte_client';

  it('oauth-authorization-server is the document of the external authorization server', async () => {
    const { url, server } = await startFront();
    const response = await fetch(url + OAUTH, { headers: { accept: 'application/json' } });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual(honestDocument(server.issuer));
  });

  it('openid-configuration is the document of the sign-in issuer', async () => {
    const { url, signIn } = await startFront();
    const response = await fetch(url + OIDC, { headers: { accept: 'application/json' } });
    expect(await response.json()).toEqual(honestDocument(signIn.issuer));
  });

  it('flyte_client is what a command-line client signs in with', async () => {
    const { url } = await startFront();
    const response = await fetch(url + CONFIG, { headers: { accept: 'application/json' } });
    expect(await response.json()).toEqual({
      client_id: 'native-app',
      redirect_uri: 'http://localhost:53593/callback',
      scopes: ['all', 'offline'],
      authorization_metadata_key: 'core-grpc',
      service_http_endpoint: PUBLIC_ORIGIN,
      audience: 'https://flow.example/api',
    });
  });

  it.each([
    ['application/json', false],
    ['*/*', true],
    ['application/json, text/plain', true],
    ['text/html', true],
  ])('Accept: %s: camelCase beside snake_case %s', async (accept, isBoth) => {
    const { url, server } = await startFront();
    const response = await fetch(url + OAUTH, { headers: { accept } });
    expect(response.headers.get('vary')).toBe('Accept');
    const body: unknown = await response.json();
    expect(body).toHaveProperty('token_endpoint', `${server.issuer}/token`);
    if (isBoth) expect(body).toHaveProperty('tokenEndpoint', `${server.issuer}/token`);
    else expect(body).not.toHaveProperty('tokenEndpoint');
  });

  it.each([OAUTH, OIDC, CONFIG])('HEAD %s has the headers of GET and no body', async (path) => {
    const { url } = await startFront();
    const [get, head] = [await fetch(url + path), await fetch(url + path, { method: 'HEAD' })];
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe(String((await get.text()).length));
    expect(await head.text()).toBe('');
  });

  it.each(
    [OAUTH, OIDC, CONFIG].flatMap((path) =>
      ['POST', 'PUT', 'DELETE', 'OPTIONS'].map((method) => [method, path] as const),
    ),
  )('%s %s is 405 and says what is allowed', async (method, path) => {
    const { url } = await startFront();
    const response = await fetch(url + path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is 503 with Retry-After while nothing is known, and flyte_client is there', async () => {
    const { url } = await startFront({ isDown: true });
    const response = await fetch(url + OAUTH);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ reason: 'metadata_unavailable' });
    expect((await fetch(url + CONFIG)).status).toBe(200);
  });

  it.each([`${OAUTH}/`, `${OAUTH}/tenant`, '/.WELL-KNOWN/openid-configuration', `${CONFIG}x`])(
    '%s is not one of them',
    async (path) => {
      const { url } = await startFront();
      expect(await (await fetch(url + path)).text()).not.toContain('token_endpoint');
    },
  );
});
