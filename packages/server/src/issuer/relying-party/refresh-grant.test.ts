import { createHmac } from 'node:crypto';
import { answerWith } from '@sallyport/testing/idp/fake-idp';
import { createSigningKey, encodePart, forgeToken, WEB_CLIENT } from '@sallyport/testing/idp/forge';
import { IDP_KEY } from '@sallyport/testing/idp/idp-key';
import { startTokenIdp } from '@sallyport/testing/idp/token-idp';
import { NOON } from '@sallyport/testing/time/clock';
import { Timers } from '@sallyport/testing/time/timers';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { describeFailure } from '../../log/log.ts';
import { createPatientFetch } from '../patient-fetch.ts';
import type { RefreshedTokens } from '../token-refresh.ts';
import { createRelyingParty } from './openid-client-relying-party.ts';

const RUNS = process.env['CI'] === undefined ? 200 : 2_000;
const SECONDS = NOON / 1_000;
const FOREIGN = createSigningKey('RS256', 'idp-key');
const UNPUBLISHED = createSigningKey('RS256', 'other-key');
const EC_KEY = createSigningKey('ES256', 'ec-key');
/** The relying party against an IdP over the wire. The library reads the clock of the runtime, so that stands too. */
async function setup(metadata: Readonly<Record<string, unknown>> = {}) {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
  onTestFinished(() => void vi.useRealTimers());
  const idp = await startTokenIdp();
  idp.metadata = metadata;
  const failures: unknown[] = [];
  /** What the network does in place of an exchange, by path. */
  const network = new Map<string, () => Promise<Response>>();
  const patientFetch = createPatientFetch(new Timers().schedule);
  const relyingParty = createRelyingParty({
    issuer: idp.issuer,
    clientId: WEB_CLIENT,
    credential: { method: 'client_secret', secret: () => 's3cret' },
    pushedAuthorization: 'never',
    scopes: ['openid', 'offline_access'],
    publicOrigin: 'https://flow.example',
    fetch,
    patientFetch: async (url, init) => {
      const path = new URL(String(url instanceof Request ? url.url : url)).pathname;
      return network.get(path)?.() ?? patientFetch(url, init);
    },
    schedule: new Timers().schedule,
    now: Date.now,
    onFailure: (cause) => failures.push(cause),
    onReady: () => {},
  });
  onTestFinished(() => relyingParty.close());
  const earlier = idp.issueIdToken({ name: 'Ada Lovelace', groups: ['admins'], nonce: 'n1' });
  const principal = { issuer: idp.issuer, subject: 'ada-subject', kind: 'user' } as const;
  const refresh = async (refreshToken = 'refresh-token-1') =>
    relyingParty.refresh(
      { idToken: earlier, accessToken: 'access-token-1', refreshToken },
      principal,
    );
  /** What must be accepted. */
  const accepted = async (): Promise<RefreshedTokens> => {
    const refreshed = await refresh();
    if (!refreshed.ok) throw new Error(JSON.stringify(refreshed.error));
    return refreshed.value;
  };
  const pathsAsked = () => idp.requests.map(({ path }) => path);
  return { idp, failures, network, relyingParty, earlier, refresh, accepted, pathsAsked };
}

const unverified = (check: unknown, refreshToken = 'refresh-token-2') => ({
  ok: false,
  error: { reason: 'unverified', check, refreshToken },
});
const REJECTED = { ok: false, error: { reason: 'rejected', cause: expect.any(Error) } };
const UNAVAILABLE = { ok: false, error: { reason: 'unavailable', cause: expect.anything() } };

describe('a refresh that the IdP grants', () => {
  it('gives the new tokens, the claims of the verified id_token over those of userinfo, and the access token’s life', async () => {
    const { idp, refresh, failures } = await setup();
    expect(await refresh()).toEqual({
      ok: true,
      value: {
        tokens: {
          idToken: idp.issueIdToken(),
          accessToken: 'access-token-2',
          refreshToken: 'refresh-token-2',
        },
        claims: {
          iss: idp.issuer,
          sub: 'ada-subject',
          aud: WEB_CLIENT,
          iat: SECONDS,
          exp: SECONDS + 600,
          name: 'Ada King',
          groups: ['engineers'],
        },
        isPartial: false,
        accessTokenLifeMs: 300_000,
      },
    });
    expect(failures).toEqual([]);
  });

  it('is asked for with the refresh token and the client’s secret, and nothing else; userinfo with the new access token', async () => {
    const { idp, refresh } = await setup();
    await refresh();
    const at = (path: string) => idp.requests.find((request) => request.path === path);
    expect(Object.fromEntries(at('/token')?.form ?? [])).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'refresh-token-1',
    });
    const [scheme, sent = ''] = (at('/token')?.headers.authorization ?? '').split(' ');
    expect(scheme).toBe('Basic');
    // Each part is form-encoded first (RFC 6749 section 2.3.1).
    expect(decodeURIComponent(Buffer.from(sent, 'base64').toString())).toBe(`${WEB_CLIENT}:s3cret`);
    expect(at('/userinfo')?.headers.authorization).toBe('Bearer access-token-2');
  });

  it('keeps the refresh token that was sent when the answer holds none', async () => {
    const { idp, accepted } = await setup();
    idp.granted = { refresh_token: undefined };
    expect((await accepted()).tokens.refreshToken).toBe('refresh-token-1');
  });

  it('says nothing of the access token’s life when the IdP does not', async () => {
    const { idp, accepted } = await setup();
    idp.granted = { expires_in: undefined };
    expect((await accepted()).accessTokenLifeMs).toBeUndefined();
  });

  it.each([
    ['holds no nonce', {}],
    ['holds the nonce of the sign-in', { nonce: 'n1' }],
    ['names us as the authorized party', { azp: WEB_CLIENT }],
    [
      'names us among its audiences and as the authorized party',
      { aud: ['x', WEB_CLIENT], azp: WEB_CLIENT },
    ],
    ['ends within the clocks’ tolerance', { exp: SECONDS - 29 }],
    ['was issued ahead within that tolerance', { iat: SECONDS + 29 }],
  ])('may bring an id_token that %s', async (_, claims) => {
    const { idp, accepted } = await setup();
    idp.claims = claims;
    expect((await accepted()).tokens.idToken).toBe(idp.issueIdToken(claims));
  });
});

describe('an answer without an id_token', () => {
  it('leaves the one of the sign-in, which says who it is; userinfo says what has changed since', async () => {
    const { idp, earlier, accepted } = await setup();
    idp.granted = { id_token: undefined };
    idp.userInfo = { sub: 'ada-subject', iss: 'https://evil.example', groups: [] };
    const { tokens, claims } = await accepted();
    expect(tokens.idToken).toBe(earlier);
    expect(claims).toMatchObject({
      iss: idp.issuer,
      sub: 'ada-subject',
      name: 'Ada Lovelace',
      groups: [],
    });
  });

  it('without userinfo brings the claims of the sign-in', async () => {
    const { idp, accepted, pathsAsked } = await setup({ userinfo_endpoint: undefined });
    idp.granted = { id_token: undefined };
    expect((await accepted()).claims).toMatchObject({ name: 'Ada Lovelace', groups: ['admins'] });
    expect(pathsAsked()).not.toContain('/userinfo');
  });
});

describe('userinfo', () => {
  it.each([
    ['is an error of the server', answerWith(500, 'broken')],
    ['refuses the access token', answerWith(401, {}, { 'www-authenticate': 'Bearer' })],
    ['is no JSON', answerWith(200, 'hello')],
    ['is too large', answerWith(200, { sub: 'ada-subject', more: 'x'.repeat(1_100_000) })],
    ['names another person', answerWith(200, { sub: 'grace-subject', groups: ['admins'] })],
    ['names no person', answerWith(200, { groups: ['admins'] })],
  ])(
    'that %s leaves the claims of the verified id_token as a part, is reported, and does not stop the renewal',
    async (_, answer) => {
      const { idp, failures, accepted } = await setup();
      idp.answers.set('/userinfo', answer);
      const { tokens, claims, isPartial, accessTokenLifeMs } = await accepted();
      expect(claims).toEqual({
        ...{ iss: idp.issuer, sub: 'ada-subject', aud: WEB_CLIENT },
        ...{ iat: SECONDS, exp: SECONDS + 600, name: 'Ada King' },
      });
      expect([isPartial, tokens.refreshToken, accessTokenLifeMs]).toEqual([
        true,
        'refresh-token-2',
        300_000,
      ]);
      expect(failures).toHaveLength(1);
      expect(describeFailure(failures[0])).not.toContain('token-');
    },
  );

  it('that cannot be had leaves no claims at all beside an answer without an id_token', async () => {
    const { idp, earlier, accepted } = await setup();
    idp.granted = { id_token: undefined };
    idp.answers.set('/userinfo', answerWith(503, 'busy'));
    expect(await accepted()).toMatchObject({ tokens: { idToken: earlier }, isPartial: true });
    expect((await accepted()).claims).toEqual({});
  });

  it('is not asked where the IdP has none: the id_token’s claims are all there are', async () => {
    const { accepted, pathsAsked, failures } = await setup({ userinfo_endpoint: undefined });
    const { claims, isPartial } = await accepted();
    expect(isPartial).toBe(false);
    expect(claims).toMatchObject({ name: 'Ada King' });
    expect(claims).not.toHaveProperty('groups');
    expect(pathsAsked()).not.toContain('/userinfo');
    expect(failures).toEqual([]);
  });
});

describe('an id_token that names another', () => {
  it('subject is refused as such, however well it is signed, and userinfo is not asked', async () => {
    const { idp, refresh, pathsAsked } = await setup();
    idp.claims = { sub: 'grace-subject' };
    expect(await refresh()).toEqual({ ok: false, error: { reason: 'other_subject' } });
    expect(pathsAsked()).not.toContain('/userinfo');
  });

  it('subject without a good signature is not even that', async () => {
    const { idp, refresh } = await setup();
    idp.granted = { id_token: idp.issueIdToken({ sub: 'grace-subject' }, FOREIGN) };
    expect(await refresh()).toEqual(unverified(expect.any(String)));
  });
});

describe('an id_token that does not pass is unverified, and the new refresh token is reported', () => {
  it.each([
    ['issuer', { iss: 'https://evil.example' }],
    ['audience', { aud: 'another-app' }],
    ['audiences without an authorized party', { aud: [WEB_CLIENT, 'another-app'] }],
    ['authorized party', { azp: 'another-app' }],
    ['end, which has passed', { exp: SECONDS - 31 }],
    ['end, which is missing', { exp: undefined }],
    ['end, which is no date', { exp: 1e300 }],
    ['end, which is text', { exp: String(SECONDS + 600) }],
    ['issue time in the future', { iat: SECONDS + 31 }],
    ['issue time, which is missing', { iat: undefined }],
    ['beginning in the future', { nbf: SECONDS + 31 }],
    ['nonce, of another sign-in', { nonce: 'n2' }],
    ['subject, which is missing', { sub: undefined }],
  ])('for its %s', async (_, claims) => {
    const { idp, refresh, pathsAsked } = await setup();
    idp.claims = claims;
    expect(await refresh()).toEqual(unverified(expect.any(String)));
    expect(pathsAsked()).not.toContain('/userinfo');
  });

  const CLAIMS = (issuer: string) => ({
    iss: issuer,
    sub: 'ada-subject',
    aud: WEB_CLIENT,
    iat: SECONDS,
    exp: SECONDS + 600,
  });

  it.each<readonly [string, (issuer: string) => unknown]>([
    ['a signature of another key of the same id', (iss) => forgeToken(FOREIGN, CLAIMS(iss))],
    ['a key that is not published', (iss) => forgeToken(UNPUBLISHED, CLAIMS(iss))],
    ['a published key of another algorithm', (iss) => forgeToken(EC_KEY, CLAIMS(iss))],
    ['no signature', (iss) => `${encodePart({ alg: 'none' })}.${encodePart(CLAIMS(iss))}.`],
    [
      'a signature of other claims',
      (iss) => {
        const [head, , signature] = forgeToken(IDP_KEY, CLAIMS(iss)).split('.');
        const claims = encodePart({ ...CLAIMS(iss), groups: ['admins'] });
        return `${head}.${claims}.${signature}`;
      },
    ],
    [
      'the public key taken for a secret',
      (iss) => {
        const input = `${encodePart({ alg: 'HS256', kid: 'idp-key' })}.${encodePart(CLAIMS(iss))}`;
        const secret = IDP_KEY.publicKey.export({ type: 'spki', format: 'pem' });
        return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
      },
    ],
    ['padding', (iss) => `${forgeToken(IDP_KEY, CLAIMS(iss))}=`],
    ['a fourth part', (iss) => `${forgeToken(IDP_KEY, CLAIMS(iss))}.x`],
    ['text that is no token', () => 'hello'],
    ['nothing', () => ''],
    ['a number', () => 7],
    ['more than 64 KiB', (iss) => forgeToken(IDP_KEY, { ...CLAIMS(iss), x: 'x'.repeat(65_536) })],
  ])('for %s', async (_, forge) => {
    const { idp, refresh, pathsAsked } = await setup();
    idp.keys = [EC_KEY.jwk];
    idp.granted = { id_token: forge(idp.issuer) };
    expect(await refresh()).toEqual(unverified(expect.any(String)));
    expect(pathsAsked()).not.toContain('/userinfo');
  });

  it('for keys that cannot be had now', async () => {
    const { idp, refresh } = await setup();
    idp.answers.set('/jwks', answerWith(503, 'busy'));
    expect(await refresh()).toEqual(unverified(expect.any(String)));
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['a life of the access token that is none', { expires_in: 'soon' }],
    ...['DPoP', 'mac', '', undefined, ['Bearer']].map(
      (token_type): [string, Readonly<Record<string, unknown>>] => [
        `the token type ${JSON.stringify(token_type)} (RFC 6749 section 7.1)`,
        { token_type },
      ],
    ),
  ])('for %s', async (_, granted) => {
    const { idp, refresh, pathsAsked } = await setup();
    idp.granted = granted;
    expect(await refresh()).toEqual(unverified(expect.any(String)));
    expect(pathsAsked()).not.toContain('/userinfo');
  });

  it('and without rotation it is the token that was sent: it stays good', async () => {
    const { idp, refresh } = await setup();
    idp.granted = { refresh_token: undefined, id_token: idp.issueIdToken({}, FOREIGN) };
    expect(await refresh()).toEqual(unverified(expect.any(String), 'refresh-token-1'));
    idp.granted = { refresh_token: undefined, id_token: idp.issueIdToken({ azp: 'another-app' }) };
    expect(await refresh()).toEqual(unverified('azp', 'refresh-token-1'));
  });

  it('and it is its own one, when two sessions are refreshed at the same time', async () => {
    const { idp, refresh } = await setup();
    const { promise, resolve } = Promise.withResolvers<void>();
    idp.answers.set('/token', (res, request) => {
      const body = {
        access_token: 'a',
        token_type: 'Bearer',
        refresh_token: `next-of-${request.form.get('refresh_token')}`,
        id_token: idp.issueIdToken({}, FOREIGN),
      };
      if (request.form.get('refresh_token') === 'two') resolve();
      void promise.then(() => answerWith(200, body)(res, request));
    });
    expect(await Promise.all([refresh('one'), refresh('two')])).toEqual([
      unverified(expect.any(String), 'next-of-one'),
      unverified(expect.any(String), 'next-of-two'),
    ]);
  });

  it('and it is reported however the metadata spells the token endpoint', async () => {
    const { idp, refresh } = await setup();
    const spelled = `${idp.issuer.replace('http:', 'HTTP:')}/elsewhere/../token`;
    idp.metadata = { token_endpoint: spelled };
    idp.granted = { id_token: idp.issueIdToken({}, FOREIGN) };
    expect(await refresh()).toEqual(unverified(expect.any(String)));
  });

  it('never shows a token in what it says of the check', async () => {
    const { idp, refresh } = await setup();
    idp.granted = { id_token: idp.issueIdToken({}, FOREIGN) };
    const refreshed = await refresh();
    const check = !refreshed.ok && refreshed.error.reason === 'unverified' && refreshed.error.check;
    expect(check).toMatch(/^[A-Za-z0-9_ ]{1,60}$/);
  });
});

describe('an IdP that refuses', () => {
  it.each([
    'invalid_grant',
    'interaction_required',
    'login_required',
    'account_selection_required',
    'consent_required',
    'access_denied',
  ])('with %s does not stand by the session any more', async (code) => {
    const { idp, refresh } = await setup();
    idp.answers.set('/token', answerWith(400, { error: code, error_description: 'no' }));
    expect(await refresh()).toEqual({ ok: false, error: { reason: 'refused', code } });
  });

  it.each([
    ['the client', 401, 'invalid_client'],
    ['the client for the grant', 400, 'unauthorized_client'],
    ['the grant', 400, 'unsupported_grant_type'],
    ['the request', 400, 'invalid_request'],
    ['the scope', 400, 'invalid_scope'],
    ['for now', 400, 'temporarily_unavailable'],
    ['with a code of its own', 400, 'out_of_luck'],
  ])('%s says nothing of the session, and is there all the same', async (what, status, error) => {
    const { idp, refresh } = await setup();
    idp.answers.set('/token', answerWith(status, { error, error_description: 'canary' }));
    const refreshed = await refresh();
    expect(refreshed).toEqual(REJECTED);
    const said = describeFailure(
      !refreshed.ok && 'cause' in refreshed.error && refreshed.error.cause,
    );
    expect(said).not.toMatch(/canary|s3cret|refresh-token/);
    if (what.startsWith('the ')) expect(said).toContain(`(idp): ${error}: ${idp.issuer} does not `);
  });

  it.each([
    [
      'the client, by a challenge',
      401,
      { error: 'invalid_client' },
      { 'www-authenticate': 'Basic realm="idp"' },
    ],
    ['with no code', 400, {}, {}],
    ['with a code that is none', 400, { error: ['invalid_grant'] }, {}],
  ])('%s says nothing of the session', async (_, status, body, headers) => {
    const { idp, refresh } = await setup();
    idp.answers.set('/token', answerWith(status, body, headers));
    expect(await refresh()).toEqual(UNAVAILABLE);
  });
});

describe('an IdP that cannot answer says nothing of the session', () => {
  it.each([500, 502, 503, 504, 429])(
    'with status %i, whatever code stands in the body',
    async (status) => {
      const { idp, refresh } = await setup();
      idp.answers.set('/token', answerWith(status, 'busy', { 'content-type': 'text/html' }));
      expect(await refresh()).toEqual(UNAVAILABLE);
      idp.answers.set('/token', answerWith(status, { error: 'invalid_grant' }));
      expect(await refresh()).toEqual(UNAVAILABLE);
    },
  );

  it.each([
    ['in time', new DOMException('The operation was aborted due to timeout', 'TimeoutError')],
    ['at all', new TypeError('fetch failed')],
  ])('when it does not do so %s', async (_, cause) => {
    const { network, refresh } = await setup();
    network.set('/token', async () => Promise.reject(cause));
    const refreshed = await refresh();
    expect(refreshed).toEqual(UNAVAILABLE);
    const failure =
      !refreshed.ok && refreshed.error.reason === 'unavailable' && refreshed.error.cause;
    expect(describeFailure(failure)).toContain('SP_IDP_UNREACHABLE');
    expect(describeFailure(failure)).not.toContain('refresh-token');
  });

  it('when the connection breaks halfway', async () => {
    const { idp, refresh } = await setup();
    idp.answers.set('/token', (res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      res.write('{"access_token":"a","refresh_token":"b"');
      res.socket?.end();
    });
    expect(await refresh()).toEqual(UNAVAILABLE);
  });

  it.each([
    ['that is no JSON', answerWith(200, 'hello')],
    ['that is no object', answerWith(200, ['access_token'])],
    ['that is null', answerWith(200, 'null')],
    ['that is empty', answerWith(200, '')],
    ['without an access token', answerWith(200, { token_type: 'Bearer' })],
    ['that is too large', answerWith(200, { access_token: 'x'.repeat(1_100_000) })],
    ['that leads elsewhere', answerWith(302, '', { location: 'https://evil.example/token' })],
  ])('with an answer %s', async (_, answer) => {
    const { idp, refresh, pathsAsked } = await setup();
    idp.answers.set('/token', answer);
    expect(await refresh()).toEqual(UNAVAILABLE);
    expect(pathsAsked().filter((path) => path === '/token')).toHaveLength(1);
  });
});

describe('whatever the token endpoint answers', () => {
  it('nothing is thrown, and nothing accepted but tokens that were granted, with an id_token that was verified or none', async () => {
    const { idp, refresh } = await setup();
    const value = fc.oneof(
      fc.constantFrom<unknown>(null, true, 0, -1, 1e300, '', 'Bearer', 'x', [], {}),
      fc.constantFrom('access-token-9', 'refresh-token-9', 'invalid_grant', '300'),
    );
    const good = fc.constant({ access_token: 'access-token-9', token_type: 'bearer' });
    const members = fc.dictionary(
      fc.constantFrom(
        ...['access_token', 'token_type', 'refresh_token', 'id_token'],
        ...['expires_in', 'scope', 'error', '__proto__'],
      ),
      value,
    );
    const body = fc.oneof(
      fc.tuple(good, members).map(([first, more]) => ({ ...first, ...more })),
      members,
      value,
    );
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom(200, 201, 400, 401, 500), async (answer, status) => {
        idp.answers.set('/token', answerWith(status, JSON.stringify(answer)));
        const refreshed = await refresh();
        if (refreshed.ok) {
          expect(status).toBe(200);
          expect(answer).toMatchObject({ access_token: refreshed.value.tokens.accessToken });
          expect(answer).not.toHaveProperty('id_token');
          expect(refreshed.value.claims).toMatchObject({ iss: idp.issuer, sub: 'ada-subject' });
        } else
          expect(['refused', 'rejected', 'unavailable', 'unverified']).toContain(
            refreshed.error.reason,
          );
      }),
      { numRuns: RUNS },
    );
    idp.answers.delete('/token');
    expect(await refresh()).toMatchObject({ ok: true });
  });
});
