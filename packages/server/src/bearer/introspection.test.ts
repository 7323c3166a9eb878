import {
  AUDIENCE,
  createSigningKey,
  forgeToken,
  HONEST_CLAIMS,
  ISSUER,
  ISSUER_SETTINGS,
  IssuersInMemory,
  WEB_CLIENT,
} from '@sallyport/testing/idp/forge';
import { BEARER_SETTINGS, createBearerUnderTest } from '@sallyport/testing/server/bearer';
import { NOON } from '@sallyport/testing/time/clock';
import { settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import type { BearerSettings } from './bearer-settings.ts';

const ENDPOINT = 'https://idp.example/introspect';
const NOW = NOON / 1_000;
const NOT_ACCEPTED = {
  outcome: 'refused',
  reason: 'bearer_not_accepted',
  token: expect.anything(),
};
const UNDECIDED = { outcome: 'undecided', reason: 'issuer_unavailable', retryAfterSeconds: 5 };
const KEY = createSigningKey('ES256', 'ec');

const ACTIVE: Readonly<Record<string, unknown>> = {
  active: true,
  ...HONEST_CLAIMS,
  token_type: 'Bearer',
};

/** A verifier with an endpoint that gives this answer. */
async function setup(answer: unknown = ACTIVE, settings: Partial<BearerSettings> = {}) {
  const issuers = new IssuersInMemory({ [ISSUER]: [KEY.jwk] });
  const requests: { readonly form: URLSearchParams; readonly authorization: string | null }[] = [];
  const endpoint: { answer: () => Response | Promise<Response> } = {
    answer: () => Response.json(answer),
  };
  const plain = issuers.fetch;
  const fetch: typeof plain = async (url, init?: RequestInit) => {
    if (url !== ENDPOINT) return plain(url);
    const headers = new Headers(init?.headers);
    requests.push({
      form: new URLSearchParams(init?.body as string),
      authorization: headers.get('authorization'),
    });
    if (issuers.isDown) throw new TypeError('fetch failed');
    return endpoint.answer();
  };
  Object.assign(issuers, { fetch });
  const bench = await createBearerUnderTest(issuers, {
    ...BEARER_SETTINGS,
    introspection: {
      endpoint: ENDPOINT,
      clientId: 'admin service',
      clientSecret: () => 'pass:wörd',
      requestsPerSecond: 50,
      issuer: ISSUER_SETTINGS,
    },
    ...settings,
  });
  return { ...bench, requests, endpoint };
}

describe('an opaque token', () => {
  it('is asked about with the client’s credentials, and admitted as the answer says', async () => {
    const { ask, requests } = await setup();
    expect(await ask('opaque')).toMatchObject({
      outcome: 'admitted',
      identity: { principal: { issuer: ISSUER, subject: 'ada', kind: 'user' } },
    });
    expect([...(requests[0]?.form ?? [])]).toEqual([
      ['token', 'opaque'],
      ['token_type_hint', 'access_token'],
    ]);
    const pair = Buffer.from('admin+service:pass%3Aw%C3%B6rd').toString('base64');
    expect(requests[0]?.authorization).toBe(`Basic ${pair}`);
  });

  it('is refused where no endpoint is configured', async () => {
    const { ask, problems } = await createBearerUnderTest([KEY.jwk]);
    expect(await ask('opaque')).toEqual(NOT_ACCEPTED);
    expect(problems).toEqual(['opaque']);
  });

  it.each(['a b', 'a"b', 'ä', 'a,b', 'a=b', 'x'.repeat(16_385), 'a\u0000'])(
    'RFC 6750 section 2.1: %# is no bearer token, and the issuer is not asked',
    async (token) => {
      const { ask, requests } = await setup();
      expect(await ask(token)).toEqual(NOT_ACCEPTED);
      expect(requests).toEqual([]);
    },
  );

  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['names no issuer', { iss: undefined }],
    ['names several audiences', { aud: ['https://other.example', AUDIENCE] }],
    ['says no end', { exp: undefined }],
    ['says token_type in another case', { token_type: 'bearer' }],
    ['says its type in a claim', { token_type: undefined, typ: 'Bearer' }],
    ['says its use', { token_type: undefined, token_use: 'access_token' }],
  ])('is admitted when the answer %s', async (_, change) => {
    const { ask } = await setup({ ...ACTIVE, ...change });
    expect(await ask('opaque')).toMatchObject({ outcome: 'admitted' });
  });

  it.each<readonly [string, string, Readonly<Record<string, unknown>>]>([
    ['says it is not active', 'inactive', { active: false }],
    ['names another issuer', 'iss', { iss: 'https://evil.example' }],
    ['names another audience', 'aud', { aud: 'https://other.example' }],
    ['names no audience', 'aud', { aud: undefined }],
    ['names the web client as audience', 'aud', { aud: WEB_CLIENT }],
    ['says it has ended', 'exp', { exp: NOW - 30 }],
    ['says an end that is no time', 'exp', { exp: 1e300 }],
    ['says it has not begun', 'nbf', { nbf: NOW + 31 }],
    ['names no subject', 'sub', { sub: undefined }],
    ['is about the web app’s own token', 'client', { client_id: WEB_CLIENT }],
    ['does not say whose token it is', 'client', { client_id: undefined }],
    ['says no type', 'token_type', { token_type: undefined }],
    ['says another type', 'token_type', { token_type: 'DPoP' }],
    ['says a type and another use', 'token_type', { token_use: 'refresh_token' }],
    ['says a type and that it is an id_token', 'token_type', { typ: 'ID' }],
    ['binds it to a key', 'bound_to_a_key', { cnf: { jkt: 'x' } }],
  ])('is refused when the answer %s', async (_, problem, change) => {
    const { ask, problems } = await setup({ ...ACTIVE, ...change });
    expect(await ask('opaque')).toEqual(NOT_ACCEPTED);
    expect(problems).toEqual([problem]);
  });

  it('without the scope is 403, like any other', async () => {
    const { ask } = await setup({ ...ACTIVE, scope: 'openid' });
    expect(await ask('opaque')).toEqual({
      outcome: 'refused',
      reason: 'insufficient_scope',
      token: expect.objectContaining({ problem: 'scope' }),
    });
  });
});

describe('an endpoint', () => {
  it.each<readonly [string, () => Response | Promise<Response>]>([
    ['refuses our credentials', () => Response.json({ error: 'invalid_client' }, { status: 401 })],
    ['is overloaded', () => new Response('', { status: 429 })],
    ['is broken', () => new Response('', { status: 500 })],
    ['redirects', () => new Response('', { status: 302, headers: { location: ENDPOINT } })],
    ['says active with an error', () => Response.json(ACTIVE, { status: 403 })],
    ['answers a page', () => new Response('<html>')],
    ['answers nothing', () => new Response('')],
    ['does not say whether it is active', () => Response.json({ ...ACTIVE, active: undefined })],
    ['says active in a text', () => Response.json({ ...ACTIVE, active: 'true' })],
    ['says active twice', () => new Response('{"active":false,"active":true}')],
    ['answers a list', () => Response.json([ACTIVE])],
    ['hangs up', () => Promise.reject(new TypeError('fetch failed'))],
  ])('that %s leaves the token undecided: neither admitted nor refused', async (_, answer) => {
    const { ask, endpoint, failures } = await setup();
    endpoint.answer = answer;
    expect(await ask('opaque')).toEqual(UNDECIDED);
    expect(failures).toHaveLength(1);
    endpoint.answer = () => Response.json(ACTIVE);
    expect(await ask('opaque')).toMatchObject({ outcome: 'admitted' });
  });

  it('never sees a JWT, whatever is wrong with it', async () => {
    const { ask, requests } = await setup();
    for (const token of [forgeToken(KEY, { ...HONEST_CLAIMS, exp: 1 }), 'a.b.c', '..', 'a.b.c.d.e'])
      expect(await ask(token)).toEqual(NOT_ACCEPTED);
    expect(requests).toEqual([]);
    expect(await ask(forgeToken(KEY, HONEST_CLAIMS))).toMatchObject({ outcome: 'admitted' });
    expect(requests).toEqual([]);
  });
});

describe('an answer', () => {
  it('that admits is remembered for 30 s', async () => {
    const { ask, requests, clock } = await setup();
    await ask('opaque');
    clock.advance(29_999);
    expect(await ask('opaque')).toMatchObject({ outcome: 'admitted' });
    expect(requests).toHaveLength(1);
    clock.advance(1);
    await ask('opaque');
    expect(requests).toHaveLength(2);
  });

  it('that admits is never remembered past the end of the token', async () => {
    const { ask, requests, clock } = await setup({ ...ACTIVE, exp: NOW + 5 });
    await ask('opaque');
    clock.advance(4_999);
    await ask('opaque');
    expect(requests).toHaveLength(1);
    clock.advance(1);
    await ask('opaque');
    expect(requests).toHaveLength(2);
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['inactive', { active: false }],
    ['for another audience', { ...ACTIVE, aud: 'https://other.example' }],
    ['without the scope', { ...ACTIVE, scope: '' }],
  ])('that it is %s is remembered for 10 s', async (_, answer) => {
    const { ask, requests, clock } = await setup(answer);
    const refused = await ask('opaque');
    clock.advance(9_999);
    expect(await ask('opaque')).toEqual(refused);
    expect(requests).toHaveLength(1);
    clock.advance(1);
    await ask('opaque');
    expect(requests).toHaveLength(2);
  });

  it('is about its token alone', async () => {
    const { ask, endpoint, requests } = await setup();
    expect(await ask('opaque')).toMatchObject({ outcome: 'admitted' });
    endpoint.answer = () => Response.json({ active: false });
    expect(await ask('opaqu')).toEqual(NOT_ACCEPTED);
    expect(await ask('opaque1')).toEqual(NOT_ACCEPTED);
    expect(await ask('opaque')).toMatchObject({ outcome: 'admitted' });
    expect(requests).toHaveLength(3);
  });

  it('is worthless after a change of rules or keys', async () => {
    const { ask, generation, requests } = await setup();
    await ask('opaque');
    generation.bump();
    await ask('opaque');
    expect(requests).toHaveLength(2);
  });

  it('GHSA-4mq7: is kept under endpoint, audiences and scopes together with the token', async () => {
    const keys = new Set<string>();
    const { createIntrospection } = await import('./introspection.ts');
    const { timers, clock } = await setup();
    const keyOf = (endpoint: string, audience: string, scope: string) => {
      const settings = { ...BEARER_SETTINGS, requiredScopes: [scope] };
      const issuer = { ...ISSUER_SETTINGS, audiences: [audience] };
      const client = { endpoint, clientId: 'c', clientSecret: () => 's', requestsPerSecond: 1 };
      return createIntrospection({ ...client, issuer }, settings, {
        fetch: async () => Response.json(ACTIVE),
        now: clock.now,
        schedule: timers.schedule,
        onFailure: () => {},
      }).keyOf('opaque');
    };
    for (const endpoint of ['https://a.example', 'https://b.example'])
      for (const audience of ['a', 'b'])
        for (const scope of ['a', 'b']) keys.add(keyOf(endpoint, audience, scope));
    expect(keys.size).toBe(8);
    expect(keyOf('https://a.example', 'a', 'a')).toBe([...keys][0]);
    for (const key of keys) expect(key).not.toContain('opaque');
  });
});

describe('many requests', () => {
  it('with one token are one question', async () => {
    const { ask, requests, endpoint } = await setup();
    const { promise, resolve } = Promise.withResolvers<Response>();
    endpoint.answer = () => promise;
    const asked = Array.from({ length: 200 }, () => ask('opaque'));
    await settled();
    resolve(Response.json(ACTIVE));
    for (const verdict of await Promise.all(asked))
      expect(verdict).toMatchObject({ outcome: 'admitted' });
    expect(requests).toHaveLength(1);
  });

  it('with 10,000 made-up tokens are no more than the budget, and none of them is admitted', async () => {
    const { ask, requests, timers } = await setup({ active: false });
    const asked = Array.from({ length: 10_000 }, (_, number) => ask(`made-up-${number}`));
    await timers.advance(3_000);
    const verdicts = await Promise.all(asked);
    // One second's worth at once, and the 64 that wait in the seconds after it.
    expect(requests.length).toBeLessThanOrEqual(50 + 64);
    expect(verdicts.filter(({ outcome }) => outcome === 'admitted')).toEqual([]);
    expect(verdicts.filter(({ outcome }) => outcome === 'undecided').length).toBeGreaterThan(9_800);
    expect(await ask(forgeToken(KEY, HONEST_CLAIMS))).toMatchObject({ outcome: 'admitted' });
  });

  it('to an endpoint that is down stop after a few, and begin again by themselves', async () => {
    const { ask, requests, issuers, clock } = await setup();
    issuers.isDown = true;
    for (let number = 0; number < 100; number += 1)
      expect(await ask(`opaque-${number}`)).toEqual(UNDECIDED);
    expect(requests).toHaveLength(5);
    issuers.isDown = false;
    clock.advance(10_000);
    expect(await ask('opaque')).toMatchObject({ outcome: 'admitted' });
  });
});
