import { describe, expect, it } from 'vitest';
import { classifyIdpOperation, createIdpCallCounts } from './metrics-idp-calls.ts';

const IDP = 'https://idp.example.com';
const post = (form: Record<string, string>): RequestInit => ({
  method: 'POST',
  body: new URLSearchParams(form),
});

describe('What an identity provider is asked for', () => {
  it.each<[string, string, RequestInit]>([
    ['discovery', `${IDP}/.well-known/openid-configuration`, {}],
    ['discovery', `${IDP}/tenant/.well-known/openid-configuration`, {}],
    ['discovery', `${IDP}/.well-known/oauth-authorization-server/tenant`, {}],
    ['jwks', `${IDP}/jwks`, {}],
    ['jwks', `${IDP}/.well-known/jwks.json`, { method: 'GET' }],
    ['userinfo', `${IDP}/userinfo`, { headers: { Authorization: 'Bearer x' } }],
    ['userinfo', `${IDP}/userinfo`, { headers: new Headers({ authorization: 'Bearer x' }) }],
    ['token', `${IDP}/token`, post({ grant_type: 'authorization_code', code: 'c' })],
    ['refresh', `${IDP}/token`, post({ grant_type: 'refresh_token', refresh_token: 'r' })],
    ['par', `${IDP}/par`, post({ code_challenge: 'x', client_id: 'web' })],
    ['introspection', `${IDP}/x`, post({ token: 't', token_type_hint: 'access_token' })],
    ['revocation', `${IDP}/x`, post({ token: 't', token_type_hint: 'refresh_token' })],
    ['introspection', `${IDP}/x`, { method: 'POST', body: 'token=t&token_type_hint=access_token' }],
    ['other', `${IDP}/x`, post({ grant_type: 'password' })],
    ['other', `${IDP}/x`, post({})],
    ['other', `${IDP}/x`, { method: 'POST' }],
    ['other', `${IDP}/x`, { method: 'DELETE' }],
  ])('%s: %s', (operation, url, init) => {
    expect(classifyIdpOperation(url, init)).toBe(operation);
  });

  it('is discovery at a configured place, and key sets at any other', () => {
    const isMetadata = (url: string) => url === `${IDP}/meta`;
    expect(classifyIdpOperation(`${IDP}/meta`, {}, isMetadata)).toBe('discovery');
    expect(classifyIdpOperation(`${IDP}/meta2`, {}, isMetadata)).toBe('jwks');
  });
});

describe('Requests to identity providers are counted and timed', () => {
  /** Asks once; returns the series that moved. */
  async function ask(answer: () => Response): Promise<Readonly<Record<string, number>>> {
    let nowMs = 1_000;
    const counts = createIdpCallCounts(() => nowMs);
    const fetch = counts.count(async () => {
      nowMs += 300;
      return answer();
    }, []);
    await fetch(`${IDP}/jwks`).catch(() => {});
    return Object.fromEntries(
      counts
        .read()
        .flatMap(({ values }) => values)
        .filter(({ metricName, value }) => value > 0 && metricName?.endsWith('_bucket') !== true)
        .map(({ metricName = '', labels, value }) => [
          [metricName.replace(/.*_/, ''), ...Object.values(labels)].join(' ').trim(),
          value,
        ]),
    );
  }
  const TIMED = { 'sum jwks': 0.3, 'count jwks': 1 };
  const fails = (cause: Error) => () => {
    throw cause;
  };

  it.each([200, 204, 302, 304])('%d is ok', async (status) => {
    expect(await ask(() => new Response(null, { status }))).toEqual({ 'jwks ok': 1, ...TIMED });
  });

  it.each([
    ['refused', () => new Response('', { status: 400 })],
    ['refused', () => new Response('', { status: 404 })],
    ['throttled', () => new Response('', { status: 429 })],
    ['server_error', () => new Response('', { status: 503 })],
    ['timeout', fails(new DOMException('timed out', 'TimeoutError'))],
    ['unreachable', fails(new TypeError('fetch failed'))],
  ] as const)('%s', async (outcome, answer) => {
    expect(await ask(answer)).toEqual({ [`jwks ${outcome}`]: 1, ...TIMED });
  });

  it('and the answer, or the failure, is the very one', async () => {
    const counts = createIdpCallCounts(() => 0);
    const response = new Response('x');
    expect(await counts.count(async () => response, [])(IDP)).toBe(response);
    const failure = new TypeError('fetch failed');
    const failing = counts.count(() => Promise.reject(failure), []);
    await expect(failing(IDP)).rejects.toBe(failure);
  });
});
