import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { freePort } from '@sallyport/testing/wire/ports';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { rs256 } from '../wire/forge.ts';
import {
  expectDone,
  expectFailed,
  expectInvalid,
  expectNotAccepted,
  forgeLogoutToken,
  logout,
  nextPerson,
  postLogout,
  sendLogoutToken,
  signInAs,
  signInOf,
} from '../wire/logout-token.ts';
import { type Service, startHostedService, startService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { start } from '../wire/process.ts';
import { expectRefusedSoon } from '../wire/refused-soon.ts';
import { type MovedHost, startMovedHost } from '../wire/service-host.ts';
import { askMe, openSignIn, SESSION_COOKIE } from '../wire/sign-in.ts';

const seconds = () => Math.floor(Date.now() / 1_000);

/** Lines of the log with this event. */
function logged(service: Service, event: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = (service.running.stdout() + service.running.stderr()).split('\n');
  return lines
    .filter((line) => line.startsWith('{') && line.includes(`"${event}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('Back-channel logout', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  describe('2.7: a valid logout token ends', () => {
    it('all sessions of a subject, and no other session, when it has a sub alone', async () => {
      const { sub, sid } = nextPerson();
      const other = nextPerson();
      const own = [
        await signInAs(service, sub, sid),
        await signInAs(service, sub, `${sid}-b`),
        await signInAs(service, sub),
      ];
      const others = await signInAs(service, other.sub, other.sid);
      expectDone(await logout(service, { sub }));
      for (const browser of own) expect(await askMe(service, browser)).toBe(401);
      expect(await askMe(service, others)).toBe(200);
    });

    it('that session alone, when it has a sid alone', async () => {
      const { sub, sid } = nextPerson();
      const named = [await signInAs(service, sub, sid), await signInAs(service, sub, sid)];
      const others = [await signInAs(service, sub, `${sid}-b`), await signInAs(service, sub)];
      expectDone(await logout(service, { sid }));
      for (const browser of named) expect(await askMe(service, browser)).toBe(401);
      for (const browser of others) expect(await askMe(service, browser)).toBe(200);
    });

    it('that session alone, when it has a sid and a sub', async () => {
      const { sub, sid } = nextPerson();
      const named = await signInAs(service, sub, sid);
      const other = await signInAs(service, sub, `${sid}-b`);
      expectDone(await logout(service, { sub, sid }));
      expect(await askMe(service, named)).toBe(401);
      expect(await askMe(service, other)).toBe(200);
    });

    it('many sessions of one subject at once', async () => {
      const { sub } = nextPerson();
      const browsers = await Promise.all(
        Array.from({ length: 30 }, (_, at) => signInAs(service, sub, `many-${at}`)),
      );
      expectDone(await logout(service, { sub }));
      const statuses = await Promise.all(browsers.map((browser) => askMe(service, browser)));
      expect(new Set(statuses)).toEqual(new Set([401]));
    });

    it('nothing, and succeeds, when it names no known person or session', async () => {
      expectDone(await logout(service, nextPerson()));
      expectDone(await logout(service, { sub: 'nobody' }));
      expectDone(await logout(service, { sid: 'nothing' }));
    });

    it('nothing more, and succeeds, when the person is signed out already', async () => {
      const { sub, sid } = nextPerson();
      await signInAs(service, sub, sid);
      expectDone(await logout(service, { sub, sid }));
      expectDone(await logout(service, { sub, sid }));
    });

    it('what it names although the request has a session cookie of another person', async () => {
      const { sub, sid } = nextPerson();
      const browser = await signInAs(service, sub, sid);
      const token = await forgeLogoutToken(service.idp, { claims: { sub, sid } });
      const bystander = await signInAs(service, `${sub}-b`);
      const cookie = `${SESSION_COOKIE}=${bystander.cookie('localhost', SESSION_COOKIE)}`;
      const answer = await postLogout(service.url, `logout_token=${token}`, { cookie });
      expectDone(answer);
      expect(answer.setCookies).toEqual([]);
      expect(await askMe(service, browser)).toBe(401);
      expect(await askMe(service, bystander)).toBe(200);
    });
  });

  describe('2.7: a sign-in', () => {
    it('that was under way when its session at the IdP ended does not begin a session', async () => {
      const { sub, sid } = nextPerson();
      const opened = await openSignIn(service, '/', new Browser(), signInOf(sub, sid));
      // Times of tokens are whole seconds: the next one, so that it is not before the sign-in.
      expectDone(await logout(service, { sid, iat: seconds() + 1 }));
      await opened.browser.step(`${service.url}/callback?${opened.query}`);
      expect(await askMe(service, opened.browser)).toBe(401);
      const twin = await openSignIn(service, '/', new Browser(), signInOf(sub, `${sid}-b`));
      await twin.browser.step(`${service.url}/callback?${twin.query}`);
      expect(await askMe(service, twin.browser)).toBe(200);
    });

    it('that was under way when all sessions of its subject ended does not begin a session', async () => {
      const { sub, sid } = nextPerson();
      const opened = await openSignIn(service, '/', new Browser(), signInOf(sub, sid));
      expectDone(await logout(service, { sub, iat: seconds() + 1 }));
      await opened.browser.step(`${service.url}/callback?${opened.query}`);
      expect(await askMe(service, opened.browser)).toBe(401);
    });

    it('that was started after the logout stands, also when the token arrives late', async () => {
      const { sub, sid } = nextPerson();
      const browser = await signInAs(service, sub, sid);
      expectDone(await logout(service, { sub, iat: seconds() - 60 }));
      expect(await askMe(service, browser)).toBe(200);
      expectDone(await logout(service, { sub }));
      expect(await askMe(service, browser)).toBe(401);
      const again = await signInAs(service, sub, `${sid}-b`);
      expect(await askMe(service, again)).toBe(200);
    });
  });

  it('2.6 step 8: a token that was shown before is refused, and ends no later sign-in', async () => {
    const { sub, sid } = nextPerson();
    const browser = await signInAs(service, sub, sid);
    // Of a second ago, so that the next sign-in is later than the token.
    const token = await forgeLogoutToken(service.idp, { claims: { sub, iat: seconds() - 1 } });
    expectDone(await sendLogoutToken(service.url, token));
    expect(await askMe(service, browser)).toBe(401);
    const again = await signInAs(service, sub, `${sid}-b`);
    expectInvalid(await sendLogoutToken(service.url, token));
    expect(await askMe(service, again)).toBe(200);
  });

  it('2.6 step 8: of two tokens with one jti the second is refused, and ends nothing', async () => {
    const [first, second, third] = [nextPerson(), nextPerson(), nextPerson()];
    const ended = await signInAs(service, first.sub, first.sid);
    const standing = await signInAs(service, second.sub, second.sid);
    const named = await signInAs(service, third.sub, third.sid);
    const jti = `jti-of-${first.sub}`;
    expectDone(await logout(service, { ...first, jti }));
    expectInvalid(await logout(service, { ...second, jti }));
    expectInvalid(await logout(service, { sub: second.sub, jti }));
    expect(await askMe(service, ended)).toBe(401);
    expect(await askMe(service, standing)).toBe(200);
    // By a jti of its own it ends.
    expectDone(await logout(service, { ...third, jti: `${jti}-b` }));
    expect(await askMe(service, named)).toBe(401);
  });

  it('2.6 step 8: of many tokens with one jti sent at once exactly one is carried out', async () => {
    const people = Array.from({ length: 6 }, nextPerson);
    const browsers = await Promise.all(people.map(({ sub, sid }) => signInAs(service, sub, sid)));
    const jti = `jti-of-${people[0]?.sub}`;
    const answers = await Promise.all(people.map((each) => logout(service, { ...each, jti })));
    const statuses = await Promise.all(browsers.map((browser) => askMe(service, browser)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const [at, { status }] of answers.entries())
      expect(statuses[at]).toBe(status === 200 ? 401 : 200);
  });

  it('2.6 step 8: of one token sent many times at once exactly one is accepted', async () => {
    const { sub, sid } = nextPerson();
    const browser = await signInAs(service, sub, sid);
    const token = await forgeLogoutToken(service.idp, { claims: { sub, sid } });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => sendLogoutToken(service.url, token)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(9);
    expect(await askMe(service, browser)).toBe(401);
  });

  it('is in the audit log with who, how and how many, and no token is', async () => {
    const { sub, sid } = nextPerson();
    await Promise.all([signInAs(service, sub, sid), signInAs(service, sub)]);
    const token = await forgeLogoutToken(service.idp, { claims: { sub } });
    const headers = { 'x-request-id': 'logout-request-1' };
    expectDone(await postLogout(service.url, `logout_token=${token}`, headers));
    const bad = await forgeLogoutToken(service.idp, { claims: { sub, iat: 0 } });
    const badHeaders = { 'x-request-id': 'logout-request-2' };
    expectInvalid(await postLogout(service.url, `logout_token=${bad}`, badHeaders));
    await expect
      .poll(() => logged(service, 'backchannel_logout_refused').at(-1), { timeout: 10_000 })
      .toMatchObject({ reason: 'iat', request_id: 'logout-request-2' });
    expect(logged(service, 'backchannel_logout').find((line) => line['subject'] === sub)).toEqual(
      expect.objectContaining({
        issuer: service.idp.issuer,
        has_sid: false,
        sessions: 2,
        request_id: 'logout-request-1',
      }),
    );
    const ended = logged(service, 'session_ended').filter((line) => line['subject'] === sub);
    expect(ended.map((line) => line['reason'])).toEqual(['session_revoked', 'session_revoked']);
    const all = service.running.stdout() + service.running.stderr();
    for (const secret of [token, bad]) {
      for (const part of secret.split('.')) expect(all).not.toContain(part);
    }
  });
});

describe('Back-channel logout, where several processes share the sessions,', () => {
  it('takes effect in each within 1 s, and survives a restart; other sessions stand', async () => {
    const service = await startService();
    const port = String(await freePort());
    const sibling = await start(['serve', '--port', port], {
      PUBLIC_URL: service.url,
      OIDC_BASE_URL: service.idp.issuer,
      OIDC_CLIENT_ID: WEB_CLIENT_ID,
      CLI_CLIENT_ID: 'cli-client',
      OIDC_CLIENT_SECRET_FILE: join(service.state, 'oidc_client_secret'),
      SALLYPORT_STATE_DIRECTORY: service.state,
    });
    const askSibling = async (browser: Browser) => {
      const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
      const headers = { host: new URL(service.url).host, cookie };
      return (await exchange(`http://localhost:${port}/me`, { headers })).status;
    };
    try {
      const { sub, sid } = nextPerson();
      const ended = await signInAs(service, sub, sid);
      const other = await signInAs(service, sub, `${sid}-b`);
      for (const browser of [ended, other]) expect(await askSibling(browser)).toBe(200);

      expectDone(await logout(service, { sub, sid }));
      expect(await askMe(service, ended)).toBe(401);
      await expectRefusedSoon(async () => [await askSibling(ended)]);
      expect(await askSibling(other)).toBe(200);
      // The other way round: sent to the second, in effect in the first.
      const token = await forgeLogoutToken(service.idp, { claims: { sub } });
      expectDone(await sendLogoutToken(`http://localhost:${port}`, token));
      expect(await askSibling(other)).toBe(401);
      await expectRefusedSoon(async () => [await askMe(service, other)]);
      // A replay is one in every process.
      expectInvalid(await sendLogoutToken(service.url, token));

      await service.running.kill();
      const again = await service.restart();
      for (const browser of [ended, other]) expect(await askMe(again, browser)).toBe(401);
      expectInvalid(await sendLogoutToken(again.url, token));
      await again.running.stop();
    } finally {
      await sibling.stop();
      await service.stop();
    }
  });
});

describe('Back-channel logout, while something is down,', () => {
  let service: Service;
  afterEach(() => service.stop());

  it('2.8: fails with 400 and Retry-After while the store cannot be written, and succeeds with the same token later', async () => {
    service = await startHostedService();
    const { sub, sid } = nextPerson();
    const browser = await signInAs(service, sub, sid);
    const token = await forgeLogoutToken(service.idp, { claims: { sub, sid } });
    const lock = new DatabaseSync(join(service.state, 'sessions.sqlite'));
    lock.exec('BEGIN IMMEDIATE');
    try {
      expectFailed(await sendLogoutToken(service.url, token));
    } finally {
      lock.exec('ROLLBACK');
      lock.close();
    }
    expect(await askMe(service, browser)).toBe(200);
    expectDone(await sendLogoutToken(service.url, token));
    expect(await askMe(service, browser)).toBe(401);
  });

  it('2.8: carries it out once the store can be written again, also when the IdP does not send it a second time', async () => {
    service = await startHostedService();
    const [one, other] = [nextPerson(), nextPerson()];
    const browser = await signInAs(service, one.sub, one.sid);
    const standing = await signInAs(service, other.sub, other.sid);
    const token = await forgeLogoutToken(service.idp, { claims: one });
    const lock = new DatabaseSync(join(service.state, 'sessions.sqlite'));
    lock.exec('BEGIN IMMEDIATE');
    try {
      expectFailed(await sendLogoutToken(service.url, token));
    } finally {
      lock.exec('ROLLBACK');
      lock.close();
    }
    await expect.poll(() => askMe(service, browser), { timeout: 10_000 }).toBe(401);
    expect(await askMe(service, standing)).toBe(200);
    expectDone(await sendLogoutToken(service.url, token));
    expectInvalid(await sendLogoutToken(service.url, token));
  });

  it('goes on with the keys it has while the IdP is down, and a forgery is still refused', async () => {
    service = await startHostedService();
    const { sub, sid } = nextPerson();
    const browser = await signInAs(service, sub, sid);
    expectDone(await logout(service, nextPerson()));
    await service.idp.goDown();
    const { privateKey } = await generateKeyPair('RS256');
    const forged = await logout(service, { sub, sid }, { sign: rs256(privateKey) });
    expect(forged.status).toBe(400);
    expect(await askMe(service, browser)).toBe(200);
    expectDone(await logout(service, { sub, sid }));
    expect(await askMe(service, browser)).toBe(401);
  });

  it('2.8: fails with 400 and Retry-After when no keys can be had, and ends nothing', async () => {
    service = await startHostedService();
    const { sub, sid } = nextPerson();
    const browser = await signInAs(service, sub, sid);
    await service.idp.goDown();
    const { privateKey } = await generateKeyPair('RS256');
    const unknown = { sign: rs256(privateKey), header: { kid: 'k2' } };
    expectFailed(await logout(service, { sub, sid }, unknown));
    expect(await askMe(service, browser)).toBe(200);
    // A token of another issuer is refused for that, whatever is down.
    expectInvalid(await logout(service, { sub, sid, iss: 'https://other.example' }));
  });
});

describe('Keys of logout tokens', () => {
  let moved: MovedHost;
  beforeAll(async () => {
    moved = await startMovedHost();
  });
  afterEach(() => moved.clock.advance(Date.now() - moved.clock.now()));
  afterAll(() => moved.close());

  it('2.8: that the IdP takes into use right after a forged token had them fetched fail its logout with 400 and Retry-After, and end the session with the same token then', async () => {
    const service = await startHostedService({}, [], undefined, [], moved.host);
    const { idp } = service;
    try {
      const { sub, sid } = nextPerson();
      const browser = await signInAs(service, sub, sid);
      const forger = await generateKeyPair('RS256');
      const forge = () =>
        logout(service, { sub, sid }, { sign: rs256(forger.privateKey), header: { kid: 'k2' } });
      // It is the first token, and has the keys fetched: the IdP does not sign with such a key at that time.
      expectInvalid(await forge());
      const rotated = await generateKeyPair('RS256', { extractable: true });
      const rotatedJwk = await exportJWK(rotated.publicKey);
      idp.keys = [{ ...rotatedJwk, kid: 'k2', alg: 'RS256', use: 'sig' }];
      const before = idp.counts.jwks;
      const honest = await forgeLogoutToken(idp, {
        claims: { sub, sid },
        header: { kid: 'k2' },
        sign: rs256(rotated.privateKey),
      });
      const early = await sendLogoutToken(service.url, honest);
      expectFailed(early);
      const retryAfterSeconds = Number(early.headers['retry-after']);
      expect(retryAfterSeconds).toBeLessThanOrEqual(30);
      // A forged one learns and costs no more than that.
      expectFailed(await forge());
      expect(idp.counts.jwks - before).toBe(0);
      expect(await askMe(service, browser)).toBe(200);
      await moved.clock.advance(retryAfterSeconds * 1_000);
      expectDone(await sendLogoutToken(service.url, honest));
      expect(await askMe(service, browser)).toBe(401);
      expectInvalid(await forge());
      expect(idp.counts.jwks - before).toBe(1);
    } finally {
      await service.stop();
    }
  });

  it('are fetched once more for one that is not known, and a flood of forged tokens costs the IdP nothing beyond that', async () => {
    const service = await startHostedService({}, [], undefined, [], moved.host);
    const { idp } = service;
    try {
      const { sub, sid } = nextPerson();
      const browser = await signInAs(service, sub, sid);
      expectDone(await logout(service, nextPerson()));
      const rotated = await generateKeyPair('RS256', { extractable: true });
      const sign = rs256(rotated.privateKey);
      const rotatedJwk = await exportJWK(rotated.publicKey);
      idp.keys = [{ ...rotatedJwk, kid: 'k2', alg: 'RS256', use: 'sig' }];
      const before = idp.counts.jwks;
      const claims = { sub, sid };
      await moved.clock.advance(31_000);
      const flood = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          logout(service, claims, { sign, header: { kid: at % 2 === 0 ? `f${at}` : 'k1' } }),
        ),
      );
      for (const answer of flood) expectNotAccepted(answer);
      expect(await askMe(service, browser)).toBe(200);
      expectDone(await logout(service, claims, { sign, header: { kid: 'k2' } }));
      expect(await askMe(service, browser)).toBe(401);
      expect(idp.counts.jwks - before).toBe(1);
    } finally {
      await service.stop();
    }
  });
});

describe('Back-channel logout behind a trusted proxy', () => {
  const PER_MINUTE = 5;
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService({}, [], undefined, [
      'trustedProxies: [127.0.0.1]',
      `rateLimit: { perMinute: ${PER_MINUTE} }`,
    ]);
  });
  afterAll(() => service.stop());

  const from = async (address: string, claims: Readonly<Record<string, unknown>>) => {
    const token = await forgeLogoutToken(service.idp, { claims });
    return postLogout(service.url, `logout_token=${token}`, { 'x-forwarded-for': address });
  };

  it('holds back an address that sends what is not valid, and no other, with 429 and Retry-After', async () => {
    for (let turn = 0; turn < PER_MINUTE; turn += 1)
      expectInvalid(await from('192.0.2.1', { sub: 'x', iss: 'https://other.example' }));
    const held = await from('192.0.2.1', nextPerson());
    expect([held.status, JSON.parse(held.body).error]).toEqual([429, 'temporarily_unavailable']);
    expect(Number(held.headers['retry-after'])).toBeGreaterThan(0);
    expect(held.headers['cache-control']).toBe('no-store');
    expectDone(await from('192.0.2.2', nextPerson()));
  });

  it('counts a token of a key that is not known as one that is not valid', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const forge = async () => {
      const forged = { sign: rs256(privateKey), header: { kid: 'k2' }, claims: nextPerson() };
      const token = await forgeLogoutToken(service.idp, forged);
      const headers = { 'x-forwarded-for': '192.0.2.4' };
      return postLogout(service.url, `logout_token=${token}`, headers);
    };
    for (let turn = 0; turn < PER_MINUTE; turn += 1) expectNotAccepted(await forge());
    expect((await forge()).status).toBe(429);
  });

  it('counts nothing that a page has a browser send: the IdP may be behind the same address', async () => {
    for (let turn = 0; turn <= PER_MINUTE; turn += 1) {
      const browser = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site' };
      const headers = { 'x-forwarded-for': '192.0.2.5', ...browser };
      expectInvalid(await postLogout(service.url, 'logout_token=forged', headers));
    }
    expectDone(await from('192.0.2.5', nextPerson()));
  });

  it('never limits the rate of an IdP that signs all people out at once', async () => {
    for (let turn = 0; turn < 4 * PER_MINUTE; turn += 1)
      expectDone(await from('192.0.2.3', nextPerson()));
  });
});
