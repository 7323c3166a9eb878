import { selectEndToEndHeaders } from '@sallyport/protocol';
import {
  AUDIENCE,
  createSigningKey,
  forgeToken,
  HONEST_CLAIMS,
  ISSUER,
  ISSUER_SETTINGS,
  IssuersInMemory,
} from '@sallyport/testing/idp/forge';
import { BEARER_SETTINGS, createBearerUnderTest } from '@sallyport/testing/server/bearer';
import { OPEN_RULES } from '@sallyport/testing/server/people';
import { NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import type { BearerSettings } from './bearer-settings.ts';

const KEY = createSigningKey('RS256', 'rsa');
const EC_KEY = createSigningKey('ES256', 'ec');
const ED_KEY = createSigningKey('EdDSA', 'ed');
const FOREIGN = createSigningKey('RS256', 'rsa');
const PUBLISHED = [KEY.jwk, EC_KEY.jwk, ED_KEY.jwk];
const NOW = NOON / 1_000;

const NOT_ACCEPTED = {
  outcome: 'refused',
  reason: 'bearer_not_accepted',
  token: expect.anything(),
};

type Claims = Readonly<Record<string, unknown>>;
const honest = (claims: Claims = {}, header: Claims = {}) =>
  forgeToken(KEY, { ...HONEST_CLAIMS, ...claims }, header);
const setup = (settings: Partial<BearerSettings> = {}) =>
  createBearerUnderTest(PUBLISHED, settings);

describe('an honest access token', () => {
  it.each([
    ['RS256', KEY],
    ['ES256', EC_KEY],
    ['EdDSA', ED_KEY],
  ] as const)('signed with %s is admitted as its subject', async (_, key) => {
    const { ask, problems } = await setup();
    expect(await ask(forgeToken(key, HONEST_CLAIMS))).toMatchObject({
      outcome: 'admitted',
      session: undefined,
      setCookie: undefined,
      renewal: undefined,
      identity: {
        principal: { issuer: ISSUER, subject: 'ada', kind: 'user' },
        user: { subject: 'ada' },
      },
    });
    expect(problems).toEqual([]);
  });

  it.each<readonly [string, Claims, Claims]>([
    ['without typ', {}, { typ: undefined }],
    ['of typ JWT', {}, { typ: 'JWT' }],
    ['of typ application/at+jwt', {}, { typ: 'application/at+jwt' }],
    ['whose type stands in a claim', { typ: 'Bearer', nonce: 'n' }, { typ: 'JWT' }],
    ['with token_use access', { token_use: 'access' }, { typ: 'JWT' }],
    ['for this and another audience', { aud: ['https://other.example', AUDIENCE] }, {}],
    ['for the audience with its port', { aud: `${AUDIENCE}:443` }, {}],
    ['for the audience with a slash', { aud: `${AUDIENCE}/` }, {}],
    ['that ended within the clock tolerance', { exp: NOW - 29 }, {}],
    ['that begins within the clock tolerance', { nbf: NOW + 30 }, {}],
    ['issued a moment ahead of our clock', { iat: NOW + 30 }, {}],
    ['without iat', { iat: undefined }, {}],
    ['without kid, where one key fits', {}, { kid: undefined }],
    ['with the scope under scp', { scope: undefined, scp: ['all'] }, {}],
    ['with a subject of 255 characters', { sub: 's'.repeat(255) }, {}],
    ['that ends after 2038', { exp: 2_147_483_648 + 60 }, {}],
    [
      'with keys in its header, which are ignored',
      {},
      { jku: 'https://evil.example/jwks', jwk: FOREIGN.jwk, x5u: 'https://evil.example/x5u' },
    ],
  ])('%s is admitted', async (_, claims, header) => {
    const { ask, issuers } = await setup();
    expect(await ask(honest(claims, header))).toMatchObject({ outcome: 'admitted' });
    expect(issuers.asked.filter((url) => url.includes('evil'))).toEqual([]);
  });

  it.each(['http://core-admin:80', 'http://core-admin', 'http://core-admin/'])(
    'requirement "authorizedUris": for %s is admitted where http://core-admin is accepted',
    async (aud) => {
      const issuer = { ...ISSUER_SETTINGS, audiences: [AUDIENCE, 'http://core-admin'] };
      const { ask } = await setup({ issuers: [issuer] });
      expect(await ask(honest({ aud }))).toMatchObject({ outcome: 'admitted' });
      expect(await ask(honest({ aud: 'http://core-admin:81' }))).toEqual(NOT_ACCEPTED);
    },
  );
});

describe('scopes', () => {
  it.each([undefined, '', 'openid', 'ALL', 'all,openid', 7, ['all', 7]])(
    'RFC 6750 section 3.1: a valid token with scope %j lacks one, which is not a bad token',
    async (scope) => {
      const { ask, problems } = await setup();
      expect(await ask(honest({ scope }))).toEqual({
        outcome: 'refused',
        reason: 'insufficient_scope',
        token: expect.objectContaining({ problem: 'scope', subject: 'ada' }),
      });
      expect(problems).toEqual(['scope']);
    },
  );

  it('must all be there', async () => {
    const { ask } = await setup({ requiredScopes: ['all', 'write'] });
    expect(await ask(honest({ scope: 'all' }))).toMatchObject({ reason: 'insufficient_scope' });
    expect(await ask(honest({ scope: 'all', scp: ['write'] }))).toMatchObject({
      outcome: 'admitted',
    });
  });

  it('are looked at after the signature: a forged token says nothing about them', async () => {
    const { ask } = await setup();
    expect(await ask(forgeToken(FOREIGN, { ...HONEST_CLAIMS, scope: '' }))).toEqual(NOT_ACCEPTED);
  });
});

describe('an application', () => {
  it.each<readonly [string, Claims]>([
    ['its subject is its client id', { sub: 'robot', client_id: 'robot' }],
    ['its subject is its azp', { sub: 'robot', client_id: undefined, azp: 'robot' }],
    ['its subject is its cid', { sub: 'robot', client_id: undefined, cid: 'robot' }],
    ['idtyp says app', { idtyp: 'app' }],
    [
      'Keycloak has a service account',
      { client_id: undefined, azp: 'Robot', preferred_username: 'service-account-robot' },
    ],
    ['Entra has the object as subject, and nothing delegated', { sub: 'o-1', oid: 'o-1' }],
    ['gty says client-credentials', { sub: 'robot@clients', gty: 'client-credentials' }],
  ])('is distinguished from a person when %s', async (_, claims) => {
    const { ask } = await setup();
    expect(await ask(honest(claims))).toMatchObject({
      identity: { principal: { kind: 'app' } },
    });
  });

  it.each<readonly [string, Claims]>([
    ['a client signed a person in', {}],
    ['idtyp says user', { idtyp: 'user' }],
    ['gty says something else', { gty: 'password' }],
    ['there is no client', { client_id: undefined }],
  ])('is none when %s', async (_, claims) => {
    const { ask } = await setup();
    expect(await ask(honest(claims))).toMatchObject({
      identity: { principal: { kind: 'user' } },
    });
  });
});

describe('access rules', () => {
  const robot = { sub: 'robot-subject', client_id: 'robot', gty: 'client-credentials' };

  it('stand for people by token as by session, and name the account', async () => {
    const { ask, rules } = await setup();
    rules.current = { ...OPEN_RULES, groups: ['engineers'] };
    expect(await ask(honest({ groups: ['engineers'] }))).toMatchObject({ outcome: 'admitted' });
    expect(await ask(honest({ groups: ['guests'] }))).toMatchObject({
      outcome: 'refused',
      reason: 'not_allowed',
      user: { subject: 'ada' },
      token: { problem: 'group', subject: 'ada' },
    });
  });

  it('name applications by client id, not by subject', async () => {
    const { ask, rules } = await setup();
    rules.current = { ...OPEN_RULES, clientIds: ['robot'] };
    expect(await ask(honest(robot))).toMatchObject({ outcome: 'admitted' });
    expect(await ask(honest({ ...robot, client_id: 'other' }))).toMatchObject({
      reason: 'not_allowed',
    });
    rules.current = { ...OPEN_RULES, clientIds: ['robot-subject'] };
    expect(await ask(honest({ ...robot, jti: '2' }))).toMatchObject({ reason: 'not_allowed' });
  });

  it('that ask for groups keep an application out unless it is named', async () => {
    const { ask, rules } = await setup();
    rules.current = { ...OPEN_RULES, groups: ['engineers'] };
    expect(await ask(honest({ ...robot, groups: ['engineers'] }))).toMatchObject({
      reason: 'not_allowed',
    });
  });

  it('that change take effect at once with the generation, on a remembered token too', async () => {
    const { ask, rules, generation } = await setup();
    const token = honest();
    expect(await ask(token)).toMatchObject({ outcome: 'admitted' });
    rules.current = { ...OPEN_RULES, groups: ['engineers'] };
    generation.bump();
    expect(await ask(token)).toMatchObject({ reason: 'not_allowed' });
  });

  it('believe an address only when it is verified, or the issuer is trusted to have checked', async () => {
    const email = { email: 'ada@corp.example' };
    const { ask, rules } = await setup();
    rules.current = { ...OPEN_RULES, emailDomains: ['corp.example'], emailTrusted: true };
    expect(await ask(honest(email))).toMatchObject({ reason: 'not_allowed' });
    expect(await ask(honest({ ...email, email_verified: true }))).toMatchObject({
      identity: { user: { email: 'ada@corp.example' } },
    });
    const trusting = await setup({ issuers: [{ ...ISSUER_SETTINGS, emailTrusted: true }] });
    trusting.rules.current = { ...OPEN_RULES, emailDomains: ['corp.example'] };
    expect(await trusting.ask(honest(email))).toMatchObject({ outcome: 'admitted' });
  });

  it('are not the only ones: claims that do not fit the headers are refused, not cut', async () => {
    const { ask } = await createBearerUnderTest(PUBLISHED, {}, ['groups']);
    expect(await ask(honest({ groups: ['g'] }))).toMatchObject({ outcome: 'admitted' });
    expect(await ask(honest({ groups: ['g'.repeat(4_000)] }))).toMatchObject({
      reason: 'not_allowed',
    });
  });
});

describe('several issuers', () => {
  const OTHER = 'https://other.example';
  const OTHER_KEY = createSigningKey('RS256', 'rsa');
  const other = (claims: Claims = {}) =>
    forgeToken(OTHER_KEY, { ...HONEST_CLAIMS, iss: OTHER, ...claims });
  const setupTwo = () => {
    const issuers = new IssuersInMemory({ [ISSUER]: [KEY.jwk], [OTHER]: [OTHER_KEY.jwk] });
    return createBearerUnderTest(issuers, {
      ...BEARER_SETTINGS,
      issuers: [
        { ...ISSUER_SETTINGS, subjectPrefix: 'one:' },
        {
          ...ISSUER_SETTINGS,
          issuer: OTHER,
          subjectPrefix: 'two:',
          subjectClaim: 'uid',
          scopeClaims: ['permissions'],
          audiences: ['urn:two'],
        },
      ],
    });
  };

  it('have each their own keys, audiences and claims', async () => {
    const { ask } = await setupTwo();
    const good = { aud: 'urn:two', uid: 'ada', permissions: ['all'] };
    expect(await ask(other(good))).toMatchObject({ outcome: 'admitted' });
    expect(await ask(other({ ...good, aud: AUDIENCE }))).toEqual(NOT_ACCEPTED);
    expect(await ask(other({ ...good, permissions: undefined }))).toMatchObject({
      reason: 'insufficient_scope',
    });
    expect(await ask(other({ ...good, uid: undefined }))).toEqual(NOT_ACCEPTED);
    expect(await ask(honest({ aud: 'urn:two' }))).toEqual(NOT_ACCEPTED);
  });

  it('never vouch for one another, though their key ids are the same', async () => {
    const { ask, problems } = await setupTwo();
    const crossed = forgeToken(OTHER_KEY, HONEST_CLAIMS);
    expect(await ask(crossed)).toEqual(NOT_ACCEPTED);
    expect(problems).toEqual(['signature']);
  });

  it('whose subjects are the same name two principals, everywhere', async () => {
    const { ask } = await setupTwo();
    const first = await ask(honest());
    const second = await ask(other({ aud: 'urn:two', uid: 'ada', permissions: 'all' }));
    expect(first).toMatchObject({
      identity: { principal: { issuer: ISSUER, subject: 'ada' }, user: { subject: 'one:ada' } },
    });
    expect(second).toMatchObject({
      identity: { principal: { issuer: OTHER, subject: 'ada' }, user: { subject: 'two:ada' } },
    });
    const subjects = [first, second].map((verdict) =>
      verdict.outcome === 'admitted'
        ? Object.fromEntries(selectEndToEndHeaders(verdict.identity.headers))
        : {},
    );
    expect(subjects).toMatchObject([
      { 'x-user-subject': 'one:ada', 'x-user-issuer': ISSUER },
      { 'x-user-subject': 'two:ada', 'x-user-issuer': OTHER },
    ]);
  });
});

describe('a verified token', () => {
  it('is recalled in memory: the very same verdict', async () => {
    const { verifier } = await setup();
    const token = honest();
    expect(verifier.recall(token)).toBeUndefined();
    const decided = verifier.decide(token);
    expect(decided).not.toBeInstanceOf(Promise);
    expect(verifier.recall(token)).toBe(decided);
    expect(verifier.recall(honest({ jti: 'other' }))).toBeUndefined();
  });

  it('is recalled for 60 s and not longer', async () => {
    const { verifier, clock } = await setup();
    const token = honest();
    void verifier.decide(token);
    clock.advance(59_999);
    expect(verifier.recall(token)).toBeDefined();
    clock.advance(1);
    expect(verifier.recall(token)).toBeUndefined();
  });

  it('is recalled until it ends and not longer', async () => {
    const { verifier, clock } = await setup();
    const token = honest({ exp: NOW + 10 });
    void verifier.decide(token);
    clock.advance(9_999);
    expect(verifier.recall(token)).toBeDefined();
    clock.advance(1);
    expect(verifier.recall(token)).toBeUndefined();
    clock.advance(30_000);
    expect(await verifier.decide(token)).toEqual(NOT_ACCEPTED);
  });

  it('is not recalled after the clock was set back', async () => {
    const { verifier, clock } = await setup();
    const token = honest();
    void verifier.decide(token);
    clock.advance(-1);
    expect(verifier.recall(token)).toBeUndefined();
  });

  it('that is refused is not remembered', async () => {
    const { verifier } = await setup();
    const token = honest({ scope: '' });
    void verifier.decide(token);
    expect(verifier.recall(token)).toBeUndefined();
  });
});

describe('a key that the issuer withdraws', () => {
  it('makes remembered tokens worthless at the next refresh', async () => {
    const { ask, issuers, timers, generation } = await setup();
    const before = generation.current;
    await timers.advance(570_000);
    const token = honest();
    expect(await ask(token)).toMatchObject({ outcome: 'admitted' });
    issuers.keys.set(ISSUER, [EC_KEY.jwk]);
    await timers.advance(29_999);
    expect(await ask(token)).toMatchObject({ outcome: 'admitted' });
    await timers.advance(1);
    expect(generation.current).toBe(before + 1);
    expect(await ask(token)).toEqual(NOT_ACCEPTED);
  });

  it('and a key that it adds does not', async () => {
    const { ask, issuers, timers, generation } = await setup();
    const before = generation.current;
    issuers.keys.set(ISSUER, [...PUBLISHED, FOREIGN.jwk]);
    await timers.advance(600_000);
    expect(generation.current).toBe(before);
    expect(await ask(forgeToken(FOREIGN, HONEST_CLAIMS))).toMatchObject({ outcome: 'admitted' });
  });

  it('and replaces by another of the same id: the new one counts after one look, the old one no more', async () => {
    const { ask, issuers, timers } = await setup();
    const old = honest();
    expect(await ask(old)).toMatchObject({ outcome: 'admitted' });
    issuers.keys.set(ISSUER, [FOREIGN.jwk]);
    await timers.advance(30_000);
    expect(await ask(forgeToken(FOREIGN, HONEST_CLAIMS))).toMatchObject({ outcome: 'admitted' });
    expect(await ask(old)).toEqual(NOT_ACCEPTED);
  });
});

describe('an issuer that cannot be reached', () => {
  const undecided = { outcome: 'undecided', reason: 'issuer_unavailable', retryAfterSeconds: 5 };

  it('from the start leaves its tokens undecided, and forged ones refused where they can be', async () => {
    const issuers = new IssuersInMemory({ [ISSUER]: PUBLISHED });
    issuers.isDown = true;
    const { ask, timers } = await createBearerUnderTest(issuers);
    expect(await ask(honest())).toEqual(undecided);
    expect(await ask(forgeToken(FOREIGN, HONEST_CLAIMS))).toEqual(undecided);
    expect(await ask(honest({ exp: NOW - 60 }))).toEqual(NOT_ACCEPTED);
    issuers.isDown = false;
    await timers.advance(30_000);
    expect(await ask(honest())).toMatchObject({ outcome: 'admitted' });
  });

  it('is reported as one whose keys are not known, until they have been read once', async () => {
    const issuers = new IssuersInMemory({ [ISSUER]: PUBLISHED });
    issuers.isDown = true;
    const { verifier, timers } = await createBearerUnderTest(issuers);
    expect([...verifier.issuers()]).toEqual([[ISSUER, false]]);
    issuers.isDown = false;
    await timers.advance(30_000);
    expect([...verifier.issuers()]).toEqual([[ISSUER, true]]);
    issuers.isDown = true;
    await timers.advance(600_000);
    expect([...verifier.issuers()]).toEqual([[ISSUER, true]]);
  });

  it('later leaves its last keys in use for a day', async () => {
    const { ask, issuers, timers, clock } = await setup();
    issuers.isDown = true;
    const token = () => honest({ exp: clock.now() / 1_000 + 60 });
    await timers.advance(86_399_000);
    expect(await ask(token())).toMatchObject({ outcome: 'admitted' });
    await timers.advance(1_000);
    expect(await ask(token())).toEqual(undecided);
  });

  it('leaves an unknown key undecided: it may be a new one', async () => {
    const { ask, issuers, timers } = await setup();
    issuers.isDown = true;
    await timers.advance(600_000);
    const unknown = () => honest({}, { kid: 'unknown' });
    expect(await ask(unknown())).toEqual(undecided);
    expect(await ask(forgeToken(FOREIGN, HONEST_CLAIMS))).toEqual(NOT_ACCEPTED);
    issuers.isDown = false;
    await timers.advance(30_000);
    expect(await ask(unknown())).toEqual(NOT_ACCEPTED);
  });
});

describe('the web app’s own token', () => {
  it('is refused also where another claim is configured to name the client', async () => {
    const issuer = { ...ISSUER_SETTINGS, clientIdClaims: ['client'] };
    const { ask } = await setup({ issuers: [issuer] });
    expect(await ask(honest({ client: 'other' }))).toMatchObject({ outcome: 'admitted' });
    expect(await ask(honest({ client: 'other', azp: 'web-app' }))).toEqual(NOT_ACCEPTED);
    expect(await ask(honest({ client: 'web-app' }))).toEqual(NOT_ACCEPTED);
  });
});

describe('closing', () => {
  it('leaves no timer behind', async () => {
    const { close, timers } = await setup();
    expect(timers.pending).toBe(2);
    close();
    expect(timers.pending).toBe(0);
  });
});
