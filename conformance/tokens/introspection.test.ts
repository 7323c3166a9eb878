import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { exchange } from '../wire/exchange.ts';
import { createAsker } from '../wire/many.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';

const CLIENT_SECRET = 'canary-introspection-secret';
const REQUESTS_PER_SECOND = 50;
/** Many more than may wait for their turn. */
const SENDERS = 500;
const folder = temporaryFolder();
const secretFile = join(folder.path, 'secret');

let service: Service;
beforeAll(async () => {
  writeFileSync(secretFile, CLIENT_SECRET, { mode: 0o600 });
  service = await startWithIntrospection();
});
afterAll(async () => {
  await service.stop();
  folder.remove();
});

async function startWithIntrospection(): Promise<Service> {
  const idp = await startFakeIdp(WEB_CLIENT_ID);
  return startHostedService({}, [], idp, [
    'bearer:',
    '  introspection:',
    `    endpoint: ${idp.issuer}/introspect`,
    '    clientId: introspector',
    `    clientSecretFile: ${secretFile}`,
    `    requestsPerSecond: ${REQUESTS_PER_SECOND}`,
  ]);
}

const me = async (token: string, of = service) =>
  (await exchange(`${of.url}/me`, { headers: { [BEARER_HEADER]: `Bearer ${token}` } })).status;
const active = (changes: object = {}) => ({
  active: true,
  iss: service.idp.issuer,
  sub: 'ada',
  aud: service.url,
  client_id: 'cli-client',
  scope: 'all',
  token_type: 'Bearer',
  exp: Math.floor(Date.now() / 1_000) + 300,
  ...changes,
});
const answer = (body: object) => ({ body: JSON.stringify(body) });
let tokens = 0;
const opaque = () => {
  tokens += 1;
  return `opaque-${tokens}`;
};

describe('A token that is no JWT is asked about at the introspection endpoint', () => {
  it('an active one is admitted, with the client authenticated by its secret', async () => {
    service.idp.introspect = () => answer(active());
    const asked = service.idp.nextRequest('/introspect');
    const token = opaque();
    expect(await me(token)).toBe(200);
    const { form, headers } = await asked;
    expect(form.get('token')).toBe(token);
    expect(form.get('token_type_hint')).toBe('access_token');
    const basic = Buffer.from(`introspector:${CLIENT_SECRET}`).toString('base64');
    expect(headers.authorization).toBe(`Basic ${basic}`);
  });

  it.each<readonly [string, object]>([
    ['not active', { active: false }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['for another audience', { aud: 'https://other.example' }],
    ['without an audience', { aud: undefined }],
    ['ended', { exp: Math.floor(Date.now() / 1_000) - 60 }],
    ['not begun', { nbf: Math.floor(Date.now() / 1_000) + 3_600 }],
    ['a refresh token', { token_type: 'refresh_token' }],
    ['of the web app', { client_id: WEB_CLIENT_ID }],
    ['of no client that is named', { client_id: undefined }],
    ['of a client that is a list', { client_id: ['cli-client'] }],
    ['without a subject and a client', { sub: undefined, client_id: undefined }],
  ])('one that is %s is refused', async (_, changes) => {
    service.idp.introspect = () => answer(active(changes));
    expect(await me(opaque())).toBe(401);
  });

  it('one without the scope is forbidden', async () => {
    service.idp.introspect = () => answer(active({ scope: 'other' }));
    expect(await me(opaque())).toBe(403);
  });

  it.each<readonly [string, () => { status?: number; body: string; contentType?: string }]>([
    ['an error', () => ({ status: 500, body: '{"active":true}' })],
    ['a refusal of our client', () => ({ status: 401, body: '{"error":"invalid_client"}' })],
    ['no JSON', () => ({ body: '<html>active</html>', contentType: 'text/html' })],
    ['an answer of another type', () => ({ body: '{"active":"true"}' })],
    ['a list', () => ({ body: '[{"active":true}]' })],
    ['a redirect', () => ({ status: 302, body: '{"active":true}' })],
  ])('%s as the answer admits no token, and refuses none for good', async (_, make) => {
    const other = await startWithIntrospection();
    other.idp.introspect = make;
    expect(await me('opaque', other)).toBe(503);
    await other.stop();
  });

  it('what is shaped like a JWT never goes there', async () => {
    service.idp.introspect = () => answer(active());
    const before = service.idp.counts.introspect;
    expect(await me('a.b.c')).toBe(401);
    expect(await me('a.b.c.d.e')).toBe(401);
    const forged = await accessToken(service.idp, service.url, {}, { alg: 'none' });
    expect(await me(forged)).toBe(401);
    expect(service.idp.counts.introspect).toBe(before);
  });

  it('an answer is remembered for its token and for no other', async () => {
    service.idp.introspect = (form) => answer(active({ sub: `owner of ${form.get('token')}` }));
    const [one, other] = [opaque(), opaque()];
    const subject = async (token: string) =>
      (await exchange(`${service.url}/me`, { headers: { [BEARER_HEADER]: `Bearer ${token}` } }))
        .headers['x-user-subject'];
    const before = service.idp.counts.introspect;
    expect(await subject(one)).toBe(`owner of ${one}`);
    expect(await subject(other)).toBe(`owner of ${other}`);
    expect(await subject(one)).toBe(`owner of ${one}`);
    expect(service.idp.counts.introspect - before).toBe(2);
  });

  it('without an endpoint an opaque token is refused', async () => {
    const without = await startHostedService();
    expect(await me('opaque', without)).toBe(401);
    expect(without.idp.counts.introspect).toBe(0);
    await without.stop();
  });
});

describe('The introspection endpoint has a budget', () => {
  it('10,000 random opaque tokens reach it no more often than that, and none is admitted', async () => {
    const flooded = await startWithIntrospection();
    const startedAt = Date.now();
    const senders = createAsker(flooded.url, SENDERS);
    const outcomes = await senders.ask(
      '/me',
      Array.from({ length: 10_000 }, (_, at) => ({ [BEARER_HEADER]: `Bearer random-${at}` })),
    );
    senders.close();
    const seconds = (Date.now() - startedAt) / 1_000;
    // One second's worth may be saved up.
    expect(flooded.idp.counts.introspect).toBeLessThanOrEqual(
      Math.ceil((seconds + 1) * REQUESTS_PER_SECOND),
    );
    expect(new Set(outcomes)).toEqual(new Set([401, 503]));
    expect(await me(await accessToken(flooded.idp, flooded.url), flooded)).toBe(200);
    await flooded.stop();
  });
});
